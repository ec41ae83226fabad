using System.Text.Json.Nodes;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Faults.Experiments;

/// <summary>The <c>faults</c> command as it is typed, twice on one folder.</summary>
[Parallelizable]
public sealed class ExperimentsAreResumed
{
    [Test]
    public async Task What_the_folder_has_is_not_made_again()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        string[] command = ["faults", "--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off", "--out", folder.Path, "--fault"];

        var first = await RunnerProcess.RunAsync([.. command, Fault.ThrowAfterInsert.Name]);
        var second = await RunnerProcess.RunAsync([.. command, $"{Fault.ThrowAfterInsert},{Fault.Poison}"]);
        var third = await RunnerProcess.RunAsync([.. command, Fault.Poison.Name]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(new[] { first, second, third }.Select(run => run.ExitCode), Is.All.EqualTo(ExitCode.Success), second.Errors);
            Assert.That(first.Output, Does.Contain("1 of 1: bare/postgresql/dtc-off/ado throw-after-insert: kept (1 once)"));
            Assert.That(
                second.Output,
                Does.Contain("1 of 1: bare/postgresql/dtc-off/ado poison: kept (1 clean-error)").And.Match("throw-after-insert +once: once"));
            Assert.That(third.Output, Does.Not.Contain("1 of 1").And.Match("throw-after-insert +once: once"));
            Assert.That(third.Output, Does.Contain("Experiments: 2 kept.").And.Not.Contain("INCOMPLETE"));
        }

        var document = Path.Combine(folder.Path, "faults.json");
        var begun = JsonNode.Parse(File.ReadAllText(document))!;
        begun["fingerprint"] = "012345";
        File.WriteAllText(document, begun.ToJsonString());
        var fourth = await RunnerProcess.RunAsync([.. command, Fault.Poison.Name]);

        Assert.That(fourth.ExitCode, Is.Not.EqualTo(ExitCode.Success));
        Assert.That(fourth.Errors, Does.Contain("holds experiments of commit").And.Contain("fingerprint 012345").And.Contain("from one build"));
    }

    /// <summary>Results of both would be in one file, and each would write a table of its own.</summary>
    [TestCase]
    [TestCase("--every-point")]
    public async Task A_second_command_on_the_folder_of_one_that_goes_on_is_refused(params string[] more)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        using var other = FolderClaim.Take(folder.Path);

        var refused = await RunnerProcess.RunAsync(
            ["faults", "--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off", "--out", folder.Path, .. more]);

        Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(refused.Errors, Does.Contain($"A command is writing into {folder.Path}."));
    }
}
