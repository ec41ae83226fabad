using Kit.Runner.Results;

namespace Kit.Tests.CommandLine;

public sealed class ReportInAPipe
{
    [Test]
    public async Task Has_each_row_of_a_table_in_a_line()
    {
        using var folder = new TemporaryFolder();
        foreach (var file in new[] { "faults.json", "faults.jsonl" })
            File.Copy(Path.Combine(RepositoryFiles.Root, "results", "2026-11-23-29fde72-kills", file), folder.Below(file));

        var result = await RunnerInProcess.RunAsync("report", folder.Path);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Errors);
        var lines = result.Output.Split('\n').Select(line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries)).ToList();
        Assert.That(lines, Has.Some.SupersetOf(new[] { "n", "lost", "doubt", "most", "verdict" }));
        Assert.That(lines, Has.Some.SupersetOf(new[] { "full-dtc", "982", "0.00305", "kept" }));
    }
}
