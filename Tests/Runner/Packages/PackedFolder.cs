namespace Kit.Tests.Packages;

/// <summary>A folder with the packages of all libraries that can be packed here, made once for all tests.</summary>
[SetUpFixture]
public sealed class PackedFolder
{
    private static readonly Lazy<Task<string>> Packed = new(PackAsync);
    private static TemporaryFolder? folder;

    public static Task<string> GetAsync() => Packed.Value;

    [OneTimeTearDown]
    public static void Remove() => folder?.Dispose();

    private static async Task<string> PackAsync()
    {
        folder = new TemporaryFolder();
        foreach (var library in Library.All.Where(library => library.CanBePacked))
        {
            var packed = await DotNet.RunAsync("pack", library.Project, "-c", "Release", "--nologo", "-v", "q", "-o", folder.Path);
            Assert.That(packed.ExitCode, Is.Zero, packed.Output);
        }

        return folder.Path;
    }
}
