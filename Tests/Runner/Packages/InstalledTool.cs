using Kit.Proofs;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Tests.Packages;

/// <summary>The tool that proves a service, installed from its package into a folder that knows nothing else.</summary>
[Parallelizable]
[Exhaustive]
public sealed class InstalledTool
{
    private TemporaryFolder folder = null!;

    [SetUp]
    public async Task SetUp()
    {
        folder = new TemporaryFolder();
        await File.WriteAllTextAsync(
            folder.Below("NuGet.config"),
            $"""
            <configuration>
              <config><add key="globalPackagesFolder" value="{folder.Below("unpacked")}" /></config>
              <packageSources><clear /><add key="packed" value="{await PackedFolder.GetAsync()}" /></packageSources>
            </configuration>
            """);
    }

    [TearDown]
    public void TearDown() => folder.Dispose();

    [Test]
    public async Task Runs_without_a_clone()
    {
        await DoneAsync("tool", "install", "TransactionModes.Prove", "--version", Library.Version, "--tool-path", "tools");
        var tool = new ExternalProgram(Path.Combine(folder.Path, "tools", ExternalProgram.FileNameOf("kit-prove")), Folder: folder.Path);

        var help = await tool.RunAsync(["--help"], CancellationToken.None);
        var none = await tool.RunAsync(["none.proof.json"], CancellationToken.None);

        Assert.That(help.Succeeded, help.Output);
        Assert.That(help.Output, Does.Contain("Examples, as typed after kit-prove:"));
        Assert.That(none.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(none.Output, Does.Contain("none.proof.json: the proof file cannot be read"));
    }

    [Test]
    public async Task Is_found_by_its_manifest()
    {
        await DoneAsync("new", "tool-manifest");
        // The SDK remembers where it unpacked this version for an earlier test, in a folder that is gone.
        var home = Environment.GetEnvironmentVariable("DOTNET_CLI_HOME") ?? Environment.GetFolderPath(Environment.SpecialFolder.UserProfile);
        foreach (var remembered in Directory.EnumerateFiles(Path.Combine(home, ".dotnet"), "transactionmodes.prove", SearchOption.AllDirectories))
            File.Delete(remembered);
        await DoneAsync("tool", "install", "TransactionModes.Prove", "--version", Library.Version);
        var file = folder.Below("orders.proof.json");
        await File.WriteAllTextAsync(file, "{}");

        Assert.That(
            () => (Proof.OfFile(file) with { Runner = null }).RunAsync(),
            Throws.TypeOf<ProofException>().With.Message.Contains($"{file}: the key 'name' is missing"));
    }

    private async Task DoneAsync(params string[] arguments)
    {
        var result = await DotNet.RunInAsync(folder.Path, arguments);
        Assert.That(result.Succeeded, result.Output);
    }
}
