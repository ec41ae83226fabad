using Kit.Runner;

namespace Kit.Tests.CommandLine;

[Parallelizable]
public sealed class AskedForHelp
{
    [TestCase("")]
    [TestCase("run")]
    [TestCase("worker")]
    [TestCase("list")]
    [TestCase("choose")]
    [TestCase("doctor")]
    [TestCase("report")]
    [TestCase("compare")]
    [TestCase("faults")]
    [TestCase("prove")]
    [TestCase("load")]
    [TestCase("experiment")]
    [TestCase("install")]
    [TestCase("errors")]
    [TestCase("errors list")]
    [TestCase("errors return")]
    [TestCase("branches")]
    [TestCase("branches end")]
    [TestCase("pages")]
    public async Task Every_command_shows_what_it_does_and_examples(string command)
    {
        var result = await RunnerProcess.RunAsync([.. command.Split(' ', StringSplitOptions.RemoveEmptyEntries), "--help"]);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success));
        Approval.Verify($"help-{(command.Length > 0 ? command.Replace(' ', '-') : "root")}.txt", result.Output);
    }
}
