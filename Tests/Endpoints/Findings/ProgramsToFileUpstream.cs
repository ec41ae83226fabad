using Kit.Endpoints.Bare.RabbitMq;
using Kit.Runner.Servers;

namespace Kit.Tests.Findings;

/// <summary>
/// The programs in docs/upstream, run as whoever reads the issue runs them. When one fails, a version of its project has mended the defect: see
/// its finding in docs/reference/findings.md.
/// </summary>
[Exhaustive, Parallelizable]
public sealed class ProgramsToFileUpstream
{
    private static readonly string Folder = Path.Combine(RepositoryFiles.Root, "docs", "upstream");

    private static IEnumerable<string?> Names => Directory.EnumerateFiles(Folder, "*.cs").Select(Path.GetFileName).Order(StringComparer.Ordinal);

    [TestCaseSource(nameof(Names))]
    public async Task Show_the_defect_in_the_versions_of_this_repository(string name)
    {
        var file = Path.Combine(Folder, name);
        var lines = await File.ReadAllLinesAsync(file);
        await using var databases = await TestDatabases.CreateAsync();
        await using var host = lines.Contains("if (args is not [var broker])") ? await TestVirtualHost.CreateAsync() : null;

        var result = await new ExternalProgram(ExternalProgram.OnSearchPath("dotnet")!).RunAsync(
            ["run", file, "--", host is null ? databases.Widgets : RabbitMqAddress.Parse(host.Address).Amqp.AbsoluteUri], CancellationToken.None);

        Assert.That(result.ExitCode, Is.EqualTo(1), result.Output);
        Assert.That(Shown(result.Output.Split('\n'), indent: ""), Is.EqualTo(Shown(lines, "//     ")));
        var versions = await File.ReadAllTextAsync(Path.Combine(RepositoryFiles.Root, "Directory.Packages.props"));
        foreach (var package in lines.Where(line => line.StartsWith("#:package ", StringComparison.Ordinal)))
            Assert.That(versions, Does.Contain($"\"{package["#:package ".Length..].Replace("@", "\" Version=\"", StringComparison.Ordinal)}\""));
    }

    private static IEnumerable<string> Shown(IEnumerable<string> lines, string indent) =>
        from line in lines
        where line.StartsWith(indent + "Expected", StringComparison.Ordinal) || line.StartsWith(indent + "Happened", StringComparison.Ordinal)
        select line[indent.Length..].TrimEnd();
}
