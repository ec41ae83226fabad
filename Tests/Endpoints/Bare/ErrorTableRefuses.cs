using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>The error table cannot take a message that is given up.</summary>
[Parallelizable]
public sealed class ErrorTableRefuses
{
    private const int Good = 3;
    private BareBench bench = null!;

    private static IEnumerable<TransactionMode> ReturningModes => BareBench.Modes.Where(mode => mode.CommitOrder.IsMessageLeftInHandler);

    /// <summary>What makes it refuse, and what mends that.</summary>
    private static IEnumerable<object[]> Refusals =>
    [
        [TransactionMode.DtcOff, "ALTER TABLE work_error ADD CONSTRAINT small CHECK (octet_length(body) = 0)", "ALTER TABLE work_error DROP CONSTRAINT small"],
        [TransactionMode.DtcOff, Deferred, "DROP TRIGGER refused ON work_error"],
        [TransactionMode.DtcOff, Suppressing("work_error"), "DROP TRIGGER suppress ON work_error"],
        [TransactionMode.Shared, Suppressing("work_error"), "DROP TRIGGER suppress ON work_error"],
        [TransactionMode.DtcOff, "CREATE RULE suppress AS ON INSERT TO work_error DO INSTEAD NOTHING", "DROP RULE suppress ON work_error"],
        .. ReturningModes.Select(mode => new object[] { mode, "ALTER TABLE work_error RENAME TO away", "ALTER TABLE away RENAME TO work_error" }),
    ];

    private const string Deferred =
        """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
        CREATE CONSTRAINT TRIGGER refused AFTER INSERT ON work_error DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()
        """;

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(nameof(Refusals))]
    public async Task The_message_waits_while_others_are_handled_and_is_given_up_when_it_takes_it(TransactionMode mode, string refusal, string remedy)
    {
        using var log = new WarningsOfAHost();
        var queue = bench.QueueOf(mode);
        var bad = Guid.CreateVersion7();
        var handled = 0;
        using var host = Build(mode, bench.Databases.QueueOf(mode), bench.Databases.Widgets, bad, () => Interlocked.Increment(ref handled), log);
        await host.StartAsync();
        await TestDatabases.ExecuteAsync(bench.Databases.QueueOf(mode), refusal);
        await EnqueueAsync(queue, bad);
        await Eventually.HoldsAsync(() => handled == Good, "the others are handled");
        await Eventually.HoldsAsync(() => log.Count("could not be moved to the error table") > 0, "it is logged");

        await TestDatabases.ExecuteAsync(bench.Databases.QueueOf(mode), remedy);
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That((await queue.ReadErrorsAsync(CancellationToken.None)).Single().MessageId, Is.EqualTo(bad));
    }

    /// <summary>The queue itself suppresses what is put back. The message stays where it is.</summary>
    [TestCase("dtc-off")]
    [TestCase("shared")]
    public async Task A_row_that_a_trigger_suppresses_does_not_count_as_stored(string name)
    {
        var mode = TransactionMode.Parse(name);
        using var log = new WarningsOfAHost();
        var queue = bench.QueueOf(mode);
        var (message, isGood) = (Guid.CreateVersion7(), false);
        using var host = bench.Build(
            mode, (_, _) => isGood ? Task.CompletedTask : throw new InvalidOperationException("The test wants this attempt to fail."),
            services: services => services.AddSingleton<ILoggerProvider>(log));
        await TestDatabases.ExecuteAsync(bench.Databases.QueueOf(mode), Suppressing("work", "NEW.failed_attempts > 0"));
        await queue.EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo(), message)], CancellationToken.None);
        await host.StartAsync();
        await Eventually.HoldsAsync(() => log.Count("suppresses its row") > 0, "it is logged");
        var left = await queue.ReadMessagesAsync(CancellationToken.None);
        isGood = true;
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That(left, Is.EqualTo([message]));
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    private static string Suppressing(string table, string when = "true") =>
        $"""
        CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
        CREATE TRIGGER suppress BEFORE INSERT ON {table} FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION suppress()
        """;

    [Test]
    public async Task A_reason_that_its_encoding_lacks_is_written_as_escapes()
    {
        var name = $"latin_{Guid.NewGuid():N}";
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, $"CREATE DATABASE {name} ENCODING LATIN1 LOCALE 'C' TEMPLATE template0");
        var latin = new NpgsqlConnectionStringBuilder(bench.Databases.Queue) { Database = name, Pooling = false }.ConnectionString;
        await using var queue = new PostgreSqlQueue(latin, "work");
        foreach (var mode in BareBench.Modes.Where(mode => !ModeSourceAttribute.IsOnDemand(mode)))
        {
            var bad = Guid.CreateVersion7();
            var handled = 0;
            using var log = new WarningsOfAHost();
            using var host = Build(mode, latin, latin, bad, () => Interlocked.Increment(ref handled), log);
            await host.StartAsync();
            await EnqueueAsync(queue, bad);
            await Eventually.HoldsAsync(async () => handled == Good && await queue.CountAsync(CancellationToken.None) == 0, $"all are handled in {mode}");
            await host.StopAsync();

            Assert.That((await queue.ReadErrorsAsync(CancellationToken.None))[^1].Reason, Does.EndWith("\\u0141ód\\u017A \\uD83D\\uDCA5"), $"{mode}");
        }

        await TestDatabases.ExecuteAsync(bench.Databases.Queue, $"DROP DATABASE {name} WITH (FORCE)");
    }

    private IHost Build(TransactionMode mode, string queue, string data, Guid bad, Action handled, WarningsOfAHost log) => bench.Build(
        mode,
        (context, _) =>
        {
            if (context.MessageId == bad)
                throw new InvalidOperationException("Łódź 💥");
            handled();
            return Task.CompletedTask;
        },
        data, queue, services: services => services.AddSingleton<ILoggerProvider>(log));

    private static Task EnqueueAsync(PostgreSqlQueue queue, Guid bad) => queue.EnqueueAsync(
        Enumerable.Range(0, Good + 1).Select(number => OutgoingMessage.Create("work", new BareBench.Todo(), number == 0 ? bad : null)),
        CancellationToken.None);
}
