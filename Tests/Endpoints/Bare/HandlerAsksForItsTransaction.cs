using System.Data.Common;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>A handler that gives its transaction to a library, or ends it.</summary>
[Parallelizable]
public sealed class HandlerAsksForItsTransaction
{
    private BareBench bench = null!;

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(typeof(BareBench), nameof(BareBench.Modes))]
    public async Task It_is_that_of_the_lent_connection_or_none_where_no_object_stands_for_it(TransactionMode mode)
    {
        DbTransaction? lent = null;

        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            var connection = await context.GetConnectionAsync(cancellationToken);
            lent = await context.GetTransactionAsync(cancellationToken);
            if (lent is not null)
                Assert.That(lent.Connection, Is.SameAs(connection));
            await InsertAsync(connection, lent, cancellationToken);
        });

        Assert.That(errors, Is.Empty);
        Assert.That(lent is not null, Is.EqualTo(HasObject(mode)));
        await Eventually.HoldsAsync(async () => await bench.Databases.CountRowsAsync() == 1, "the row is there");
    }

    [ModeSource(nameof(WithObject))]
    public async Task A_handler_that_rolls_it_back_has_not_succeeded(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            await BareBench.InsertRowAsync(context, cancellationToken);
            await (await context.GetTransactionAsync(cancellationToken))!.RollbackAsync(cancellationToken);
        });

        Assert.That(errors, Has.Count.EqualTo(1));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.Zero);
    }

    [ModeSource(nameof(WithObject))]
    public async Task A_handler_that_disposes_it_has_not_succeeded(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            await using var mine = await context.GetTransactionAsync(cancellationToken);
            await BareBench.InsertRowAsync(context, cancellationToken);
        });

        Assert.That(errors, Has.Count.EqualTo(1));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.Zero);
    }

    private static IEnumerable<TransactionMode> WithObject => BareBench.Modes.Where(HasObject);

    private static bool HasObject(TransactionMode mode) =>
        mode != TransactionMode.ScopeOff && mode != TransactionMode.TransactionsOff && mode != TransactionMode.NpgsqlScope;

    private static async Task InsertAsync(DbConnection connection, DbTransaction? transaction, CancellationToken cancellationToken)
    {
        await using var insert = connection.CreateCommand();
        insert.CommandText = "INSERT INTO widget (id, message_id) VALUES (1, gen_random_uuid())";
        insert.Transaction = transaction;
        await insert.ExecuteNonQueryAsync(cancellationToken);
    }
}
