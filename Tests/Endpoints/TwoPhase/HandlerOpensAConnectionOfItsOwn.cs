using System.Transactions;
using Kit.Modes;
using Kit.Tests.Bare;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>full-dtc, and something else than the lent connection comes into the handler's ambient transaction.</summary>
[Parallelizable]
public sealed class HandlerOpensAConnectionOfItsOwn
{
    private BareBench bench = null!;

    private static IEnumerable<TransactionMode> Modes => [TransactionMode.FullDtc, TransactionMode.FullDtcWaiting];

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [TestCaseSource(nameof(Modes))]
    public async Task The_message_fails_and_nothing_is_left_of_either(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            await TwoPhaseBench.InsertAsync(context, cancellationToken);
            await using var own = new NpgsqlConnection(bench.Databases.Widgets);
            await own.OpenAsync(cancellationToken);
            await TwoPhaseBench.ExecuteAsync(own, $"INSERT INTO widget (id, message_id) VALUES ({Kit.Handlers.WidgetId.Next()}, '{context.MessageId}')");
        });

        var server = new NpgsqlConnectionStringBuilder(bench.Databases.Widgets);
        Assert.That(errors, Has.Count.EqualTo(1));
        Assert.That(errors[0].Reason, Does.Contain("A resource other than the lent connection").And.Contain("Enlist=false"));
        Assert.That(errors[0].Reason, Does.Contain($"Database={server.Database}").And.Contain($"Username={server.Username}").And.Not.Contain(server.Password!));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.Zero);
        Assert.That(await bench.Databases.CountPreparedAsync(), Is.Zero);
    }

    [TestCase("full-dtc")]
    [TestCase("dtc-off")]
    public async Task Without_asking_for_the_lent_one_it_fails_too(string mode)
    {
        var errors = await bench.HandleAsync(TransactionMode.Parse(mode), async (_, cancellationToken) =>
        {
            await using var own = new NpgsqlConnection(bench.Databases.Widgets);
            await own.OpenAsync(cancellationToken);
            await TwoPhaseBench.ExecuteAsync(own, $"INSERT INTO widget (id, message_id) VALUES (1, '{Guid.Empty}')");
        });

        Assert.That(errors.Single().Reason, Does.Contain("A resource other than the lent connection"));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.Zero);
    }

    [Test]
    public async Task A_durable_resource_fails_it_before_that_is_asked_to_prepare()
    {
        var durable = new Durable();

        var errors = await bench.HandleAsync(TransactionMode.FullDtc, async (context, cancellationToken) =>
        {
            await TwoPhaseBench.InsertAsync(context, cancellationToken);
            Transaction.Current!.EnlistDurable(Guid.NewGuid(), durable, EnlistmentOptions.None);
        });

        Assert.That(errors.Single().Reason, Does.Contain("A resource other than the lent connection").And.Contain(nameof(Durable)));
        Assert.That(durable.HasPrepared, Is.False);
        Assert.That(await bench.Databases.CountRowsAsync(), Is.Zero);
        Assert.That(await bench.Databases.CountPreparedAsync(), Is.Zero);
    }

    [TestCase(TransactionScopeOption.Suppress)]
    [TestCase(TransactionScopeOption.RequiresNew)]
    public async Task Outside_of_the_ambient_transaction_it_may(TransactionScopeOption option)
    {
        var errors = await bench.HandleAsync(TransactionMode.FullDtc, async (context, cancellationToken) =>
        {
            await TwoPhaseBench.InsertAsync(context, cancellationToken);
            using var outside = new TransactionScope(option, TransactionScopeAsyncFlowOption.Enabled);
            await using var own = new NpgsqlConnection(bench.Databases.Widgets);
            await own.OpenAsync(cancellationToken);
            await TwoPhaseBench.ExecuteAsync(own, $"INSERT INTO widget (id, message_id) VALUES ({Kit.Handlers.WidgetId.Next()}, '{context.MessageId}')");
            outside.Complete();
        });

        Assert.That(errors, Is.Empty);
        await Eventually.HoldsAsync(async () => await bench.Databases.CountRowsAsync() == 2, "both rows are there");
    }

    [Test]
    public async Task A_nested_scope_without_a_connection_of_its_own_changes_nothing()
    {
        var errors = await bench.HandleAsync(TransactionMode.FullDtc, async (context, cancellationToken) =>
        {
            using var nested = new TransactionScope(TransactionScopeAsyncFlowOption.Enabled);
            await TwoPhaseBench.InsertAsync(context, cancellationToken);
            nested.Complete();
        });

        Assert.That(errors, Is.Empty);
        await Eventually.HoldsAsync(async () => await bench.Databases.CountRowsAsync() == 1, "the row is there");
    }

    [Test]
    public async Task Requests_at_the_same_time_are_lent_one_connection()
    {
        var isSame = false;

        var errors = await bench.HandleAsync(TransactionMode.FullDtc, async (context, cancellationToken) =>
        {
            var connections = await Task.WhenAll(
                Enumerable.Range(0, 8).Select(_ => Task.Run(async () => await context.GetConnectionAsync(cancellationToken), cancellationToken)));
            isSame = connections.Distinct().Count() == 1;
            await TwoPhaseBench.InsertAsync(context, cancellationToken);
        });

        Assert.That(errors, Is.Empty);
        Assert.That(isSame, Is.True);
        await Eventually.HoldsAsync(async () => await bench.Databases.CountRowsAsync() == 1, "the row is there");
        Assert.That(await bench.Databases.CountPreparedAsync(), Is.Zero);
    }
}
