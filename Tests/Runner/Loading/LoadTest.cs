using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Loading;

/// <summary>Loads by the command line, on servers of the kit's own, with a folder for each test.</summary>
public abstract class LoadTest
{
    /// <summary>A line of the progress. There is a latency in it as soon as the server has told of a message in the last second.</summary>
    protected const string Progress = " s, [0-9,]+ sent, [0-9,]+ handled, backlog [0-9,]+, p50 [0-9.,]+ ms, 0 threw";

    private TemporaryFolder parent = null!;

    protected string Parent => parent.Path;

    /// <summary>Where the load is saved; it does not exist yet.</summary>
    protected string Folder => Path.Combine(Parent, "load");

    [SetUp]
    public void Prepare()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveFolder() => parent?.Dispose();

    /// <summary>Stops a load of five minutes with Ctrl+C when it has told its <see cref="Progress"/>.</summary>
    protected private Task<RunnerResult> StoppedAsync(params IEnumerable<string> options) => StoppedByAsync("INT", options);

    protected private async Task<RunnerResult> StoppedByAsync(string signal, params IEnumerable<string> options)
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Processes are looked up in /proc.");
        using var runner = RunnerProcess.Start(
            ["load", "--framework", "bare", "--transport", "postgresql", "--for", "5min", "--seed-rows", "0", "--out", Folder, .. options]);
        await runner.PrintedLikeAsync(Progress);
        await runner.SignalAsync(signal);

        var result = await runner.EndAsync();

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Interrupted), result.Output + result.Errors);
        return result;
    }
}
