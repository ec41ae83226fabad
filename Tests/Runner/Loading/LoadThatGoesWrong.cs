using System.Globalization;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Loads;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Tests.Loading;

/// <summary>A load some of whose messages have no effect, or one that nobody sees.</summary>
[Parallelizable]
public sealed class LoadThatGoesWrong
{
    // The warm-up's row is there before any message of the load.
    private const string RefuseHalf =
        """
        CREATE FUNCTION refuse_half() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF EXISTS (SELECT FROM widget) AND right(NEW.message_id::text, 1) < '8' THEN RAISE EXCEPTION 'refused'; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER refuse_half BEFORE INSERT ON widget FOR EACH ROW EXECUTE FUNCTION refuse_half()
        """;

    [Test]
    public async Task A_message_whose_handler_throws_is_told_and_has_failed_in_the_end()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var plain = Cell.Find("bare.postgresql.dtc-off.ado")!;
        await using var bench = await LoadBench.StartAsync(plain with { Scenario = plain.Scenario with { Prepare = RefuseHalf } });
        await using var shown = new StringWriter(CultureInfo.InvariantCulture);
        var display = new LoadDisplay(shown, width: null);

        // The server tells some latencies late: one of the lines has them.
        var load = await bench.RunAsync(20, TimeSpan.FromSeconds(6), progress => display.Show(Provenance.NameOf(plain), progress));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(load.Sent, Is.EqualTo(120));
            Assert.That(load.Failed, Is.InRange(12, 108), "about half");
            Assert.That(load.Accounts[DeliveryClass.CleanError], Is.EqualTo(load.Failed), "dead letters");
            Assert.That(($"{load.Outcome}", load.IsDeadLetteredAlone), Is.EqualTo(("INVALID", true)));
            Assert.That(shown.ToString(), Does.Match("handled, backlog [0-9]+, p50 [0-9.]+ ms, [1-9][0-9]* threw"));
        }
    }

    [Test]
    public async Task A_rate_that_no_sender_reaches_is_the_senders_fault()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var queue = new QueueStatements(RoundTransport.QueueName);
        // In this mode the queue is among the widgets.
        var plain = Cell.Find("bare.postgresql.shared.ado")!;
        await using var bench = await LoadBench.StartAsync(plain with { Scenario = plain.Scenario with { Prepare = $"{queue.Create};{SlowSendsTo(queue)}" } });

        var load = await bench.RunAsync(100, TimeSpan.FromSeconds(2), _ => { });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(load.Outcome.IsValid(), string.Join(", ", load.Outcome.Reasons));
            Assert.That((load.Sent, load.Failed), Is.EqualTo((200, 0)), "late, and all of them");
            Assert.That(load.SenderLag!.P99, Is.GreaterThan(LoadResult.LateSender));
            Assert.That(LoadReport.VerdictOf(load, limitMilliseconds: null), Does.StartWith("the sender was late"));
            Assert.That(load.Latency!.P50, Is.GreaterThan(load.SenderLag.P50!.Value), "it contains the lateness");
        }
    }

    [Test]
    public async Task What_arrives_when_the_runner_receives_no_longer_is_counted_and_has_no_latency()
    {
        var load = await LoadUntilTheConsumerIsCutAsync(new OpenLoad(200));

        using (Assert.EnterMultipleScope())
        {
            Assert.That($"{load.Outcome}", Is.EqualTo("INVALID"));
            Assert.That(
                load.Outcome.Reasons[0],
                Does.StartWith("the runner no longer knew when messages had their effects: The connection to the broker was lost"));
            Assert.That(load.IsStopped, "its latency would be that of a part");
            // The cut can be just before the runner looks at the connection, which it does each second.
            Assert.That(load.Failed, Is.InRange(1, load.Sent - 10), "those after the cut");
            Assert.That(load.Accounts.Values.Sum(), Is.EqualTo(load.Sent), "each is in a class");
            // The broker pushed some when the connection was cut, and they are gone: the more, the slower the runner is. A later one is in the queue.
            Assert.That(load.Accounts[DeliveryClass.Once], Is.InRange(load.Sent - load.Failed + 1, load.Sent), "they are in the queue");
        }
    }

    /// <summary>What was measured until then is kept.</summary>
    [Test]
    [Exhaustive]
    public async Task Users_whom_nobody_tells_any_more_end_the_load()
    {
        var users = new ClosedLoad(5, Think: TimeSpan.FromMilliseconds(20), Ramp: TimeSpan.Zero, Timeout: TimeSpan.FromMinutes(1));

        var load = await LoadUntilTheConsumerIsCutAsync(users);

        using (Assert.EnterMultipleScope())
        {
            Assert.That($"{load.Outcome}", Is.EqualTo("INVALID"));
            Assert.That(load.Outcome.Reasons[0], Does.StartWith("the runner no longer knew when messages had their effects: "));
            Assert.That(load.IsStopped);
            Assert.That(load.Failed, Is.InRange(1, users.Users), "each user waits for one at most");
            Assert.That(load.Sent, Is.GreaterThan(load.Failed));
            Assert.That(load.Accounts.Values.Sum(), Is.EqualTo(load.Sent), "each is in a class");
        }
    }

    /// <summary>A load of minutes, whose runner learns of no effect any more when it has begun.</summary>
    private static async Task<LoadResult> LoadUntilTheConsumerIsCutAsync(LoadShape shape)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        RabbitMqServer.IgnoreWithoutPrograms();
        await using var bench = await LoadBench.StartAsync(Cell.Find("bare.rabbitmq.dtc-off.ado.pass-to-topic")!);
        var told = 0;
        var loading = bench.RunAsync(shape, TimeSpan.FromMinutes(5), _ => Interlocked.Increment(ref told));
        await ToldAgainAsync();
        // It has looked at the connection then, and sends for a second until it looks again.
        await bench.CutConsumerAsync(ToldAgainAsync);
        return await loading;

        Task ToldAgainAsync()
        {
            var before = Volatile.Read(ref told);
            return Eventually.HoldsAsync(() => Volatile.Read(ref told) > before || loading.IsCompleted, "the load tells its progress");
        }
    }

    /// <summary>Each sending transaction takes longer than the time between two messages, and longer than a sender may be late.</summary>
    private static string SlowSendsTo(QueueStatements queue) =>
        $"""
        CREATE FUNCTION wait_a_little() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$;
        CREATE TRIGGER wait_a_little BEFORE INSERT ON {queue.Queue} FOR EACH STATEMENT EXECUTE FUNCTION wait_a_little()
        """;
}
