using Kit.Endpoints.Rebus.PostgreSql;
using Kit.Modes;
using Npgsql;
using Rebus.Activation;
using Rebus.Config;
using Rebus.Extensions;
using Rebus.Pipeline;
using Rebus.Retry.Simple;
using Rebus.Transport;

namespace Kit.Tests.Rebus;

/// <summary>What <c>UseTransactionMode</c> refuses, and what it notices while a message is handled.</summary>
[Parallelizable]
public sealed class ModesOfRebus
{
    private static readonly TimeSpan TransactionTimeout = TimeSpan.FromSeconds(1);

    private static IEnumerable<TransactionMode> Refused => TransactionMode.All.Where(mode => !RebusSupport.Of(mode).IsSupported);

    [TestCaseSource(nameof(Refused))]
    public void Another_mode_is_refused_with_the_reason(TransactionMode mode)
    {
        using var activator = new BuiltinHandlerActivator();

        Assert.That(
            () => Configure.With(activator).UseTransactionMode(mode, "Host=nowhere", RebusBench.Table, RebusBench.Queue),
            Throws.TypeOf<NotSupportedException>().With.Message.EqualTo($"Rebus cannot run in {mode}: {RebusSupport.Of(mode).Because}."));
    }

    [Test]
    public void A_time_out_that_dotnet_would_shorten_is_refused()
    {
        using var activator = new BuiltinHandlerActivator();

        Assert.That(
            () => Configure.With(activator).UseTransactionMode(
                TransactionMode.DtcOff, "Host=nowhere", RebusBench.Table, RebusBench.Queue, transactionTimeout: TimeSpan.FromMinutes(30)),
            Throws.TypeOf<ArgumentOutOfRangeException>().With.Message.Contains("TransactionManager.MaximumTimeout = TimeSpan.FromMinutes(30);"));
    }

    [Test]
    public async Task In_shared_a_handler_that_does_not_take_the_receives_transaction_fails()
    {
        await using var bench = await RebusBench.CreateAsync();

        await bench.DrainAsync(rebus => Use(rebus, TransactionMode.Shared, bench.Database), _ => Task.CompletedTask);

        Assert.That((await bench.ReadErrorsAsync()).Single().Reason, Does.Contain("Handler did not take the receive's transaction"));
    }

    [Test]
    public async Task In_shared_each_handler_of_a_message_must_take_it()
    {
        await using var bench = await RebusBench.CreateAsync();
        await using var data = NpgsqlDataSource.Create(bench.Database);

        await bench.DrainAsync(
            rebus => Use(rebus, TransactionMode.Shared, bench.Database),
            _ => bench.InsertAsync(MessageContext.Current.GetReceiveTransaction().Connection!),
            async () =>
            {
                await using var apart = await data.OpenConnectionAsync();
                await bench.InsertAsync(apart);
            });

        Assert.That((await bench.ReadErrorsAsync()).Select(error => error.Reason), Has.One.Contains("OtherHandler did not take the receive's transaction"));
    }

    [Test]
    public async Task In_shared_a_handler_that_swallows_an_error_fails()
    {
        await using var bench = await RebusBench.CreateAsync();

        await bench.DrainAsync(rebus => Use(rebus, TransactionMode.Shared, bench.Database), async _ =>
        {
            var received = MessageContext.Current.GetReceiveTransaction().Connection!;
            await bench.InsertAsync(received, id: 1);
            Assert.That(() => bench.InsertAsync(received, id: 1), Throws.TypeOf<PostgresException>());
        });

        Assert.That((await bench.ReadErrorsAsync()).Single().Reason, Does.Contain("left its transaction failed"));
        Assert.That(await bench.CountRowsAsync(), Is.Zero);
    }

    [Test]
    public async Task In_another_mode_there_is_no_transaction_to_take()
    {
        await using var bench = await RebusBench.CreateAsync();

        await bench.DrainAsync(rebus => Use(rebus, TransactionMode.ScopeOff, bench.Database), _ =>
        {
            MessageContext.Current.GetReceiveTransaction();
            return Task.CompletedTask;
        });

        Assert.That((await bench.ReadErrorsAsync()).Single().Reason, Does.Contain("The receive's transaction is for handlers in shared"));
    }

    [Test]
    public async Task In_dtc_off_a_handler_that_overruns_its_transaction_leaves_nothing_and_is_given_up()
    {
        await using var bench = await RebusBench.CreateAsync();
        await using var data = NpgsqlDataSource.Create(bench.Database);
        var cancelled = new List<bool>();

        await bench.DrainAsync(rebus => Use(rebus, TransactionMode.DtcOff, bench.Database, TransactionTimeout), async _ =>
        {
            await using var connection = await data.OpenConnectionAsync();
            await bench.InsertAsync(connection);
            var inTime = MessageContext.Current.GetCancellationToken();
            cancelled.Add(await Eventually.IsSoAsync(() => Task.FromResult(inTime.IsCancellationRequested), Eventually.Limit));
            await bench.InsertAsync(connection);
        });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await bench.CountRowsAsync(), Is.Zero);
            Assert.That(cancelled, Is.EqualTo(Enumerable.Repeat(true, TransactionMode.DtcOff.Attempts)));
            Assert.That(await bench.ReadErrorsAsync(), Has.Count.EqualTo(1));
        }
    }

    /// <summary>Rebus creates handlers before the scope. When this fails, look at the limits of Rebus in docs/guides/transports.md.</summary>
    [Test]
    public async Task In_dtc_off_a_connection_that_a_constructor_opens_is_outside_the_scope()
    {
        await using var bench = await RebusBench.CreateAsync();
        await using var data = NpgsqlDataSource.Create(bench.Database);
        NpgsqlConnection? opened = null;

        await bench.DrainAsync(
            rebus => Use(rebus, TransactionMode.DtcOff, bench.Database),
            async _ =>
            {
                await using var connection = opened!;
                await bench.InsertAsync(connection);
                throw new InvalidOperationException("after the insert");
            },
            create: () => opened = data.OpenConnection());

        Assert.That(await bench.CountRowsAsync(), Is.EqualTo(TransactionMode.DtcOff.Attempts));
        Assert.That(await bench.ReadErrorsAsync(), Has.Count.EqualTo(1));
    }

    /// <summary>Else the scope would have two connections, and be a two-phase commit, which nothing recovers.</summary>
    [Test]
    public async Task In_dtc_off_a_send_in_a_transaction_of_its_own_is_outside_the_handlers()
    {
        await using var bench = await RebusBench.CreateAsync();
        await using var data = NpgsqlDataSource.Create(bench.Database);
        var sent = 0L;

        await bench.DrainAsync(rebus => Use(rebus, TransactionMode.DtcOff, bench.Database), async send =>
        {
            await using var connection = await data.OpenConnectionAsync();
            await bench.InsertAsync(connection);
            using var apart = new RebusTransactionScope();
            await send();
            await apart.CompleteAsync();
            sent = await bench.CountSentAsync();
        });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(sent, Is.EqualTo(1), "while the handler runs");
            Assert.That(await bench.CountRowsAsync(), Is.EqualTo(1));
            Assert.That(await bench.CountSentAsync(), Is.EqualTo(1));
            Assert.That(await bench.ReadErrorsAsync(), Is.Empty);
        }
    }

    private static void Use(RebusConfigurer rebus, TransactionMode mode, string database, TimeSpan? timeout = null) => rebus.UseTransactionMode(
        mode, database, RebusBench.Table, RebusBench.Queue, ErrorHandlerMode.NextDelivery, timeout);
}
