namespace Kit.Tests.Results;

/// <summary>A folder of one test, gone with it. A server of another user can enter it.</summary>
public sealed class TemporaryFolder : IDisposable
{
    public string Path { get; } = Directory.CreateDirectory(
        System.IO.Path.Combine(System.IO.Path.GetTempPath(), $"kit-test-{Guid.NewGuid():N}")).FullName;

    public string Below(params string[] names) => System.IO.Path.Combine([Path, .. names]);

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
