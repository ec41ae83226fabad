using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Tests.Bare;
using Kit.Tests.CommandLine;
using Npgsql;

namespace Kit.Tests.Operations;

/// <summary>Three messages that a handler failed at until they were given up.</summary>
[Parallelizable]
public sealed class DeadLettersInPostgreSql
{
    private static readonly IReadOnlyList<Guid> Ids = [.. Enumerable.Range(1, 3).Select(number => new Guid(number, 0, 0, new byte[8]))];

    private BareBench bench = null!;
    private PostgreSqlQueue queue = null!;

    private string Server => bench.Databases.Queue;

    [SetUp]
    public async Task GiveUpThree()
    {
        bench = await BareBench.CreateAsync();
        queue = new PostgreSqlQueue(Server, "work");
        foreach (var id in Ids.SkipLast(1))
            await queue.EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo(), id)], CancellationToken.None);
        await bench.HandleAsync(TransactionMode.DtcOff, Ids[^1], (context, _) => throw new InvalidOperationException($"no stock\nfor {context.MessageId}"));
    }

    [TearDown]
    public async Task TearDown()
    {
        // Other tests will have the database.
        if (bench is not null)
            await TestDatabases.ExecuteAsync(Server, "DROP PUBLICATION IF EXISTS everything");
        if (queue is not null)
            await queue.DisposeAsync();
        if (bench is not null)
            await bench.DisposeAsync();
    }

    [Test]
    public async Task None_leaves_the_error_table_that_the_queue_does_not_store()
    {
        await TestDatabases.ExecuteAsync(
            Server,
            $"""
            CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
            CREATE TRIGGER suppress BEFORE INSERT ON work FOR EACH ROW WHEN (NEW.message_id = '{Ids[1]}') EXECUTE FUNCTION suppress()
            """);

        Assert.That(
            () => queue.ReturnErrorsAsync(messageIds: null, CancellationToken.None),
            Throws.InstanceOf<NpgsqlException>().With.Message.Contains("has stored 2 of 3 dead letters"));

        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Has.Count.EqualTo(3));
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
    }

    [Test]
    public async Task All_go_back_in_the_order_of_failing_and_have_all_their_attempts_again()
    {
        Assert.That(await queue.ReturnErrorsAsync(messageIds: null, CancellationToken.None), Is.EqualTo(Ids));

        Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(Ids));
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await TestDatabases.ScalarAsync(Server, "SELECT max(failed_attempts) FROM work"), Is.Zero);
        var attempts = 0;
        var errors = await bench.HandleAsync(
            TransactionMode.DtcOff,
            (context, _) => context.MessageId != Ids[0] || ++attempts == 3
                ? Task.CompletedTask
                : throw new InvalidOperationException("not yet"));
        Assert.That(errors, Is.Empty);
        Assert.That(attempts, Is.EqualTo(3));
    }

    // It publishes deletions, which the server refuses on a table without a replica identity.
    [Test]
    public async Task Under_a_publication_of_all_tables_they_go_back_too()
    {
        await TestDatabases.ExecuteAsync(Server, "CREATE PUBLICATION everything FOR ALL TABLES");

        Assert.That(await queue.ReturnErrorsAsync(messageIds: null, CancellationToken.None), Is.EqualTo(Ids));
    }

    [Test]
    public async Task A_table_of_an_earlier_version_gets_its_key_from_the_statement_in_the_error()
    {
        await TestDatabases.ExecuteAsync(Server, "ALTER TABLE work_error DROP CONSTRAINT work_error_pkey; CREATE PUBLICATION everything FOR ALL TABLES");
        var refused = await ErrorsAsync("return", "--all");

        Assert.That(refused.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(refused.Errors, Does.StartWith("error: Table work_error has no key, and a publication of its database publishes deletions"));
        await TestDatabases.ExecuteAsync(Server, refused.Errors[refused.Errors.IndexOf("ALTER TABLE", StringComparison.Ordinal)..].Trim());
        Assert.That((await ErrorsAsync("return", "--all")).Output, Does.EndWith("Returned to 'work': 3.\n"));
    }

    [Test]
    public async Task Those_that_are_named_go_back_and_the_others_stay()
    {
        Assert.That(await queue.ReturnErrorsAsync([Ids[1]], CancellationToken.None), Is.EqualTo(new[] { Ids[1] }));

        Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { Ids[1] }));
        var left = await queue.ReadErrorsAsync(CancellationToken.None);
        Assert.That(left.Select(error => error.MessageId), Is.EqualTo(new[] { Ids[0], Ids[2] }));
    }

    [Test]
    public async Task Where_one_is_not_there_none_goes_back()
    {
        var unknown = Guid.NewGuid();

        var refusal = await Assert.ThrowsAsync<DeadLetterNotFoundException>(
            () => queue.ReturnErrorsAsync([Ids[0], unknown], CancellationToken.None));

        Assert.That(refusal!.MessageIds, Is.EqualTo(new[] { unknown }));
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Has.Count.EqualTo(3));
    }

    [Test]
    public async Task The_command_lists_and_returns_them()
    {
        var list = await RunnerProcess.RunAsync("errors", "list", "--queue", "work", "--postgresql", Server);
        Assert.That(list.ExitCode, Is.EqualTo(ExitCode.Success), list.Errors);
        Assert.That(list.Output, Does.StartWith("message id"));
        Assert.That(
            list.Output,
            Does.Match($"(?m)^{Ids[0]}  3 +20..-..-.. ..:..:.. UTC  .*Todo.*  System.InvalidOperationException: no stock …$"));
        Assert.That(list.Output, Does.Contain("Dead letters of 'work': 3."));
        Assert.That(list.Output, Does.Contain("--json shows them in full").And.Not.Contain("for 0000"));

        var json = await ErrorsAsync("list", "--json");
        using var letters = JsonDocument.Parse(json.Output);
        Assert.That(letters.RootElement[2].GetProperty("messageId").GetGuid(), Is.EqualTo(Ids[2]));
        Assert.That(letters.RootElement[2].GetProperty("reason").GetString(), Does.EndWith($"no stock\nfor {Ids[2]}"));

        var one = await ErrorsAsync("return", "--message", $"{Ids[2]}");
        Assert.That(one.ExitCode, Is.EqualTo(ExitCode.Success), one.Errors);
        Assert.That(one.Output, Is.EqualTo($"Returned {Ids[2]}\nReturned to 'work': 1.\n"));

        var all = await ErrorsAsync("return", "--all");
        Assert.That(all.Output, Does.EndWith("Returned to 'work': 2.\n"));
        Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { Ids[2], Ids[0], Ids[1] }));
        Assert.That((await ErrorsAsync("list")).Output, Is.EqualTo("Dead letters of 'work': 0.\n"));
        Assert.That((await ErrorsAsync("return", "--all")).Output, Is.EqualTo("Returned to 'work': 0.\n"));
    }

    [Test]
    public async Task A_message_that_is_not_there_is_named()
    {
        var result = await ErrorsAsync("return", "--message", $"{Ids[0]}", Guid.Empty.ToString().Replace('0', '9'));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(result.Errors, Does.StartWith(
            "error: Not among the dead letters: 99999999-9999-9999-9999-999999999999. None was returned.\n  → "));
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Has.Count.EqualTo(3));
    }

    [TestCase("list")]
    [TestCase("return", "--all")]
    public async Task A_queue_that_is_not_there_is_said_and_not_made(params string[] command)
    {
        var result = await OperatorsCommand.RunAsync(["errors", .. command, "--queue", "Work", "--postgresql", Server]);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(
            result.Errors,
            Does.StartWith("error: There is no queue 'Work' in kit at "));
        var tables = await TestDatabases.ScalarAsync(Server, "SELECT count(*)::int FROM pg_tables WHERE schemaname = 'public'");
        Assert.That(tables, Is.EqualTo(2));
    }

    [Test]
    public async Task A_role_without_rights_is_told_which_it_needs()
    {
        var role = $"guest_{Guid.NewGuid():N}";
        await TestDatabases.ExecuteAsync(Server, $"CREATE ROLE {role} LOGIN PASSWORD 'guest-secret'; GRANT SELECT ON work_error TO {role}");
        try
        {
            var asGuest = new NpgsqlConnectionStringBuilder(Server) { Username = role, Password = "guest-secret" }.ConnectionString;
            var list = await OperatorsCommand.RunAsync("errors", "list", "--queue", "work", "--postgresql", asGuest);
            var back = await OperatorsCommand.RunAsync("errors", "return", "--queue", "work", "--all", "--postgresql", asGuest);

            Assert.That(list.Output, Does.Contain("Dead letters of 'work': 3."), list.Errors);
            Assert.That(back.ExitCode, Is.EqualTo(ExitCode.Failure));
            Assert.That(back.Errors, Does.StartWith("error: The role lacks a right on the queue's tables: "));
            Assert.That(
                back.Errors,
                Does.Contain("grant SELECT and DELETE on work_error and INSERT on work").And.Not.Contain("guest-secret"));
            Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Has.Count.EqualTo(3));
        }
        finally
        {
            await TestDatabases.ExecuteAsync(Server, $"DROP OWNED BY {role}; DROP ROLE {role}");
        }
    }

    private Task<RunnerResult> ErrorsAsync(params string[] command) =>
        OperatorsCommand.RunAsync(["errors", .. command, "--queue", "work", "--postgresql", Server]);
}
