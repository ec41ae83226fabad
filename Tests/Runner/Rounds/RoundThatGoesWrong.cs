using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Rounds;

/// <summary>Somebody else meddles with the databases of a round while it drains.</summary>
[Parallelizable]
public sealed class RoundThatGoesWrong : OnAServerOfItsOwn
{
    private const string Queue = $"\"{RoundTransport.QueueName}\"";

    private const int Messages = 200;

    // In template1, so that the databases of the round have it: no message gets its row in before the test's own row, -1, is there.
    private const string HoldWidgets =
        "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN WHILE current_database() LIKE ''%_widgets'' "
        + "AND NEW.id NOT IN (-1, -2) AND NOT EXISTS (SELECT FROM widget WHERE id = -1) LOOP PERFORM pg_sleep(0.02); END LOOP; "
        + "RETURN NEW; END'; "
        + "CREATE FUNCTION hold_widgets() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN "
        + "IF to_regclass(''widget'') IS NOT NULL THEN "
        + "CREATE OR REPLACE TRIGGER hold BEFORE INSERT ON widget FOR EACH ROW EXECUTE FUNCTION hold(); END IF; END'; "
        + "CREATE EVENT TRIGGER hold_widgets ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION hold_widgets()";

    [Test]
    public async Task A_row_too_many_and_a_prepared_transaction_that_is_left_and_a_message_too_few_make_it_invalid()
    {
        var before = await Server.DatabasesAsync();
        await Server.In("template1").ExecuteAsync(HoldWidgets);
        using var runner = RunnerProcess.Start(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off",
            "--messages", $"{Messages}", "--rounds", "1", "--warmup", "0", "--seed-rows", "0",
            "--postgresql", Server.ConnectionString, "--out", Parent.Path);
        string? database = null;
        await Eventually.HoldsAsync(
            async () => (database = (await Server.DatabasesAsync()).Except(before)
                .SingleOrDefault(name => name.EndsWith("_queue", StringComparison.Ordinal))) is not null,
            "the round has its databases");
        // It takes seconds to start, and a drain that is held for half a minute is given up: before the drain, therefore.
        using var resuming = RunnerProcess.Start("run", "--resume", Parent.Path, "--postgresql", Server.ConnectionString);
        var queue = Server.In(database!);
        var widgets = Server.In(database!.Replace("_queue", "_widgets", StringComparison.Ordinal));
        await Eventually.HoldsAsync(
            async () => await widgets.ReadAsync(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'") is not [],
            "a handler waits in the middle of the drain");
        await queue.ExecuteAsync($"DELETE FROM {Queue} WHERE position = (SELECT max(position) FROM {Queue})");
        await queue.ExecuteAsync("BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION 'not the kit''s'");
        var second = await resuming.EndAsync();
        // One in the place of the lost message's.
        await widgets.ExecuteAsync("INSERT INTO widget VALUES (-1, gen_random_uuid()), (-2, gen_random_uuid())");

        var result = await runner.EndAsync();

        var run = RunFolder.Open(Parent.Path).Load();
        var round = run.Rounds.Single();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(round.Outcome.Reasons, Has.Some.StartWith("messages unexpected: 2 (").And.Some.StartWith("messages lost: 1 ("));
            Assert.That(round.Outcome.Reasons, Has.Some.StartWith($"rows: {Figures.Count(Messages + 1)} found, {Figures.Count(Messages)} expected "));
            Assert.That(round.Outcome.Reasons, Does.Contain("prepared transactions left: 1 (not the kit's)"));
            Assert.That(round.Accounts[DeliveryClass.Lost], Is.EqualTo(1));
            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(result.Errors, Is.Empty);
            Assert.That(result.Output, Does.Contain("INVALID (").And.Contain("0 of 1"));
            Assert.That(round.Outcome.Verdict, Is.EqualTo(Verdict.Invalid));
            Assert.That(run.Cells.Single().Rate, Is.Null);
            Assert.That(await Server.DatabasesAsync(), Is.EqualTo(before));
            Assert.That(run.Document.Ending, Is.EqualTo(RunEnding.Completed), "whatever the second command did");
            Assert.That(second.ExitCode, Is.EqualTo(ExitCode.Failure), "a run that goes on is not resumed");
            Assert.That(second.Errors, Does.Contain($"A command is writing into {Parent.Path}."));
        }
    }
}
