using Kit.Runner.Servers;

namespace Kit.Tests.Proofs;

/// <summary>A sample in Node, in a folder of its own, with what it needs.</summary>
internal static class NodeSample
{
    public static async Task InstallAsync(TemporaryFolder folder, string sample)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        foreach (var program in new[] { "node", "npm" })
        {
            if (ExternalProgram.OnSearchPath(program) is null)
                Assert.Ignore($"There is no {program} on the search path (Node.js has it).");
        }

        foreach (var file in Directory.GetFiles(Path.Combine(RepositoryFiles.Root, "Samples", sample)))
            File.Copy(file, folder.Below(Path.GetFileName(file)));
        var installed = await new ExternalProgram("npm", Folder: folder.Path).RunAsync(["install", "--no-audit", "--no-fund"], CancellationToken.None);
        if (!installed.Succeeded)
            Assert.Ignore($"npm cannot install what the sample {sample} needs: {installed.Output}");
    }
}
