using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.Rounds;

namespace Kit.Tests.CommandLine;

[Parallelizable]
public sealed class RunOnATerminal
{
    [SetUp]
    public void RequireATerminal()
    {
        if (!OperatingSystem.IsLinux() || ExternalProgram.OnSearchPath("script") is null)
            Assert.Ignore("A terminal is made by 'script' of util-linux, which is not here.");
    }

    [Test]
    public async Task Progress_is_shown_and_cleared()
    {
        using var parent = new TemporaryFolder();
        // Each message waits for some round trips, so that each round is shown, four times a second, however late a timer is.
        var arguments =
            "run --framework bare --transport postgresql --mode scope-off --rtt 5ms --messages 400 --rounds 2 --no-repeat --warmup 10 --seed-rows 20000 " +
            $"--out {Path.Combine(parent.Path, "run")}";
        var result = await RunAsync("xterm", arguments);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output);
            Assert.That(result.Output, Does.Contain("1 of 2 rounds ━━━━").And.Contain("━━──").And.Contain("1 of 2: bare/postgresql/scope-off/ado/5ms"));
            Assert.That(result.Output, Does.Contain("bare/postgresql/scope-off/ado/5ms >·").And.Contain("bare/postgresql/scope-off/ado/5ms ■>"));
            // The cursor is hidden under the progress and comes back.
            Assert.That(
                result.Output.LastIndexOf("\e[?25h", StringComparison.Ordinal),
                Is.GreaterThan(result.Output.LastIndexOf("\e[?25l", StringComparison.Ordinal)));
            Assert.That(result.Output, Does.Contain($"Tables and graphs: {Path.Combine(parent.Path, "run", "tables.md")}"));
        }
    }

    [Test]
    public async Task Where_the_cursor_cannot_be_moved_each_line_is_written_once()
    {
        using var parent = new TemporaryFolder();

        var result = await RunAsync(
            "dumb",
            "run --framework bare --transport postgresql --mode scope-off --messages 400 --rounds 1 --no-repeat --warmup 10 --seed-rows 20000 " +
            $"--out {Path.Combine(parent.Path, "run")}");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output);
        Assert.That(result.Output, Does.Contain("1 of 1: bare/postgresql/scope-off/ado").And.Not.Contain("━").And.Not.Contain("rounds ·"));
    }

    private static async Task<RunnerResult> RunAsync(string terminal, string arguments)
    {
        var server = await NamedServer.GetAsync();
        using var run = RunnerProcess.Start(
            new Dictionary<string, string> { ["KIT_POSTGRESQL"] = server.ConnectionString, ["TERM"] = terminal },
            "script",
            ["--quiet", "--return", "--command", $"{RunnerProcess.ProgramPath} {arguments}", "/dev/null"]);
        return await run.EndAsync();
    }
}
