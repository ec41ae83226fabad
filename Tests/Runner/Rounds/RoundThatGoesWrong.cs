using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;
using Kit.Tests.CommandLine;
using Npgsql;

namespace Kit.Tests.Rounds;

/// <summary>Somebody else meddles with the databases of a round while it drains.</summary>
[Parallelizable]
public sealed class RoundThatGoesWrong : OnAServerOfItsOwn
{
    private const string Queue = $"\"{RoundTransport.QueueName}\"";

    private const int Messages = 200;

    [Test]
    public async Task A_row_too_many_and_a_prepared_transaction_that_is_left_and_a_message_too_few_make_it_invalid()
    {
        var before = await Server.DatabasesAsync();
        using var runner = RunnerProcess.Start(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off",
            "--messages", $"{Messages}", "--rounds", "1", "--warmup", "0", "--seed-rows", "0",
            "--postgresql", Server.ConnectionString, "--out", Parent.Path);
        string? database = null;
        await Eventually.HoldsAsync(
            async () => (database = (await Server.DatabasesAsync()).Except(before)
                .SingleOrDefault(name => name.EndsWith("_queue", StringComparison.Ordinal))) is not null,
            "the round has its databases");
        var queue = Server.In(database!);
        // Until then no handler gets its row in, however slow whoever meddles is.
        var widgets = Server.In(database!.Replace("_queue", "_widgets", StringComparison.Ordinal));
        RunnerResult second;
        await using (var holder = await widgets.OpenAsync())
        {
            await ExecuteAsync(holder, "BEGIN", "LOCK TABLE widget IN SHARE MODE");
            await Eventually.HoldsAsync(
                async () => await widgets.ReadAsync("SELECT pid FROM pg_locks WHERE relation = 'widget'::regclass AND NOT granted") is not [],
                "a handler waits in the middle of the drain");
            await queue.ExecuteAsync($"DELETE FROM {Queue} WHERE position = (SELECT max(position) FROM {Queue})");
            // One in the place of the lost message's.
            await ExecuteAsync(holder, "INSERT INTO widget VALUES (-1, gen_random_uuid()), (-2, gen_random_uuid())");
            await using var connection = await queue.OpenAsync();
            await ExecuteAsync(connection, "BEGIN", "SELECT pg_current_xact_id()", "PREPARE TRANSACTION 'not the kit''s'");
            second = await RunnerProcess.RunAsync("run", "--resume", Parent.Path, "--postgresql", Server.ConnectionString);
            await ExecuteAsync(holder, "COMMIT");
        }

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

    private static async Task ExecuteAsync(NpgsqlConnection connection, params string[] statements)
    {
        foreach (var statement in statements)
        {
            await using var command = new NpgsqlCommand(statement, connection);
            await command.ExecuteNonQueryAsync();
        }
    }
}
