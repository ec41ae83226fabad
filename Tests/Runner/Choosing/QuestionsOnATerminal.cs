using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Choosing;

[Parallelizable]
public sealed class QuestionsOnATerminal
{
    private const string Down = "\e[B";
    private const string Enter = "\r";

    [Test]
    public async Task Are_asked_one_after_the_other()
    {
        using var terminal = Terminal("choose");

        await terminal.PrintedAsync("Where the handler's rows are.");
        await terminal.TypeAsync(Down + Enter);
        await terminal.PrintedAsync("What a crash may do to a message.");
        await terminal.TypeAsync(Enter);
        await terminal.PrintedAsync("A worker's next message must see the rows of its last one.");
        await terminal.TypeAsync(Down + Enter);
        await terminal.PrintedAsync("The handler calls another system, such as an HTTP service or a mail server.");
        await terminal.TypeAsync(Down + Enter);
        await terminal.PrintedAsync("The framework, and what holds the messages.");
        await terminal.TypeAsync(Down + Enter);
        var result = await terminal.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output);
        Assert.That(
            result.Output,
            Does.Contain(
                "Without the questions: ./run.sh choose --rows same-server --tolerates once --sees-rows --calls-outside " +
                "--framework bare --transport postgresql")
                .And.Contain("  .UseTransactionMode(TransactionMode.FullDtcWaiting)").And.Contain("No mode takes back a call to another system"));
    }

    [Test]
    public async Task What_was_answered_already_is_in_the_command_without_them()
    {
        var folder = Path.Combine(RepositoryFiles.Root, "results", "2026-11-23-29fde72");
        using var terminal = Terminal($"choose --rows elsewhere --calls-outside --run {folder} --rate 500.5/s --framework bare --transport postgresql");

        await terminal.PrintedAsync("What a crash may do to a message.");
        await terminal.TypeAsync(Enter);
        var result = await terminal.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output);
        Assert.That(result.Output, Does.Contain($"--calls-outside --framework bare --transport postgresql --run {folder} --rate 500.5/s"));
    }

    [Test]
    public async Task Are_not_asked_if_they_are_answered()
    {
        using var terminal = Terminal("choose --rows elsewhere --tolerates loss --framework bare --transport rabbitmq");

        var result = await terminal.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output);
        Assert.That(result.Output, Does.Contain("transactions-off: ").And.Not.Contain("Without the questions"));
    }

    private static RunnerProcess Terminal(string arguments)
    {
        if (!OperatingSystem.IsLinux() || ExternalProgram.OnSearchPath("script") is null)
            Assert.Ignore("A terminal is made by 'script' of util-linux, which is not here.");
        return RunnerProcess.Start(
            new Dictionary<string, string> { ["TERM"] = "xterm", ["COLUMNS"] = "200" },
            "script",
            ["--quiet", "--return", "--command", $"stty cols 200; {RunnerProcess.ProgramPath} {arguments}", "/dev/null"]);
    }
}
