using Kit.Runner.Results;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>A cell that has rounds, and whose probe fails when its run is resumed.</summary>
[Parallelizable]
public sealed class ProbeOfAResumedRun : OnAServerOfItsOwn
{
    // In template1, so that each database that the runner creates has it: no row gets into its table.
    private const string RefuseWidgets =
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no widgets today''; END'; "
        + "CREATE FUNCTION refuse_widgets() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN IF to_regclass(''widget'') IS NOT NULL THEN "
        + "CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON widget FOR EACH ROW EXECUTE FUNCTION refuse(); END IF; END'; "
        + "CREATE EVENT TRIGGER refuse_widgets ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION refuse_widgets()";

    private string Folder => Path.Combine(Parent.Path, "run");

    [Test]
    [Exhaustive]
    public async Task Ends_it_and_leaves_no_measured_cell_out()
    {
        var first = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off", "--messages", "20", "--rounds", "2", "--warmup", "0",
            "--seed-rows", "0", "--no-repeat", "--postgresql", Server.ConnectionString, "--out", Folder);
        Assert.That(first.ExitCode, Is.EqualTo(ExitCode.Success), first.Output + first.Errors);
        await ForgetTheLastRoundAsync();

        var template = Server.In("template1");
        await template.ExecuteAsync(RefuseWidgets);
        var failed = await RunnerProcess.RunAsync("run", "--resume", Folder, "--postgresql", Server.ConnectionString);
        var kept = RunFolder.Open(Folder).Load();
        await template.ExecuteAsync("DROP EVENT TRIGGER refuse_widgets");
        var resumed = await RunnerProcess.RunAsync("run", "--resume", Folder, "--postgresql", Server.ConnectionString);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(failed.ExitCode, Is.EqualTo(ExitCode.Failure), failed.Output);
            Assert.That(failed.Errors, Does.Contain("bare/postgresql/scope-off/ado has rounds from before the run was stopped, and it"));
            Assert.That(kept.Document.LeftOut, Is.Empty);
            Assert.That(kept.Rounds, Has.Count.EqualTo(1));
            Assert.That(resumed.ExitCode, Is.EqualTo(ExitCode.Success), resumed.Output + resumed.Errors);
            Assert.That(RunFolder.Open(Folder).Load().Rounds.Count(round => round.Outcome.IsValid()), Is.EqualTo(2));
        }
    }

    private async Task ForgetTheLastRoundAsync()
    {
        var (run, rounds) = (Path.Combine(Folder, RunFolder.RunFile), Path.Combine(Folder, RoundFiles.LinesFile));
        await File.WriteAllTextAsync(
            run, (await File.ReadAllTextAsync(run)).Replace("\"state\": \"completed\"", "\"state\": \"stopped\"", StringComparison.Ordinal));
        await File.WriteAllLinesAsync(rounds, (await File.ReadAllLinesAsync(rounds))[..1]);
    }
}
