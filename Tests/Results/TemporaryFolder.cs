namespace Kit.Tests.Results;

/// <summary>A folder of one test, gone with it.</summary>
internal sealed class TemporaryFolder : IDisposable
{
    public string Location { get; } = Directory.CreateTempSubdirectory("kit-results-").FullName;

    public string Below(params string[] names) => Path.Combine([Location, .. names]);

    public void Dispose() => Directory.Delete(Location, recursive: true);
}
