using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Loading;

/// <summary>Ctrl+C in loads that take long: what was measured is kept and shown, and nothing else is left.</summary>
[Parallelizable]
public sealed class LoadThatIsStopped
{
    private TemporaryFolder parent = null!;

    private ServersOfARunner Servers => new(parent);

    private string Folder => parent.Below("load");

    [SetUp]
    public void Prepare()
    {
        if (!OperatingSystem.IsLinux())
            Assert.Ignore("Processes are looked up in /proc.");
        PostgreSqlServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
    }

    [TearDown]
    public void RemoveFolder() => parent?.Dispose();

    [Test]
    [Exhaustive]
    public async Task Of_users()
    {
        var result = await StoppedAsync(
            " handled, ",
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "dtc-off,outbox", "--users", "5", "--think", "20ms", "--for", "5min",
            "--seed-rows", "0", "--warmup", "10", "--out", Folder);

        var document = new LoadFolder(Folder).LoadDocument();
        var load = document.Results.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(document.IsStopped && load.IsStopped);
            Assert.That(load.Outcome.IsValid(), string.Join(", ", load.Outcome.Reasons));
            Assert.That((load.Users, load.Failed), Is.EqualTo(((int?)5, 0)));
            Assert.That(load.Seconds, Is.InRange(9, 200), "it was stopped after its first line");
            Assert.That(load.Sent, Is.InRange(5, load.Seconds * 5 * 1_000 / 20));
            Assert.That(result.Output, Does.Contain("INCOMPLETE: the load is running, was stopped").And.Contain("bare/postgresql/dtc-off/ado"));
        }
    }

    [Test]
    [Exhaustive]
    public async Task Of_a_search()
    {
        var result = await StoppedAsync(
            ": 100/s: ",
            "load", "--framework", "bare", "--transport", "postgresql", "--mode", "shared,outbox", "--find-rate", "--rate", "100/s", "--for", "2s",
            "--seed-rows", "0", "--warmup", "10", "--out", Folder);

        var document = new LoadFolder(Folder).LoadDocument();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(document.IsStopped);
            Assert.That(document.Results.Select(load => $"{load.Cell}").Distinct(), Is.EqualTo(["bare/postgresql/shared/ado"]), "the search was not over");
            Assert.That(document.Results[0], Has.Property(nameof(LoadResult.Sent)).EqualTo(200).And.Property(nameof(LoadResult.IsStopped)).EqualTo(false));
            Assert.That(document.Results.Select(load => load.Failed), Is.All.Zero);
            Assert.That(result.Output, Does.Contain("INCOMPLETE: the load is running, was stopped"));
        }
    }

    [Test]
    [Exhaustive]
    public async Task Of_an_experiment()
    {
        var result = await StoppedAsync(" users: ", "experiment", "biztalk-dynamic-ports-2010", "--quick", "--out", Folder);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.Output, Does.Contain("Command 1 of 2: load ").And.Contain("not measured"));
            Assert.That(
                result.Output,
                Does.Contain($"Stopped. What was measured is kept. See it again with: experiment biztalk-dynamic-ports-2010 --from {Folder}"));
        }
    }

    /// <summary>Starts the runner with a folder of its own for its servers, and stops it when it has printed a text.</summary>
    private async Task<RunnerResult> StoppedAsync(string text, params string[] arguments)
    {
        using var runner = RunnerProcess.Start(Servers.Environment, RunnerProcess.ProgramPath, arguments);
        await runner.PrintedAsync(text);
        var handler = await runner.HandlerAsync();
        var server = Servers.Postmaster;
        await runner.SignalAsync("INT");

        var result = await runner.EndAsync();

        await Eventually.HoldsAsync(() => handler.HasEnded && server.HasEnded, "the handler process and the server end");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Interrupted), result.Output + result.Errors);
            Assert.That(result.Errors, Is.Empty);
            Assert.That(Servers.Folders, Is.Empty);
        }

        return result;
    }
}
