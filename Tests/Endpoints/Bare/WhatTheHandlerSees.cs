using System.Transactions;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>The transaction around a handler, as the handler itself sees it in each mode.</summary>
[Parallelizable]
public sealed class WhatTheHandlerSees
{
    [TestCaseSource(typeof(BareBench), nameof(BareBench.Modes))]
    public async Task An_ambient_transaction_and_the_isolation_level_as_the_mode_says(TransactionMode mode)
    {
        await using var bench = await BareBench.CreateAsync();
        var (ambient, ambientIsolation, isolation, inTransaction) = (false, "", "", false);

        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            var connection = await context.GetConnectionAsync(cancellationToken);
            ambient = Transaction.Current is not null;
            ambientIsolation = Transaction.Current?.IsolationLevel.ToString() ?? "";
            isolation = await ScalarAsync(connection, "SHOW transaction_isolation");
            // Within a transaction block two statements see one start time.
            inTransaction = await ScalarAsync(connection, "SELECT now()::text") == await ScalarAsync(connection, "SELECT now()::text");
        });

        var hasTransaction = mode != TransactionMode.ScopeOff && mode != TransactionMode.TransactionsOff;
        var hasScope = hasTransaction && mode != TransactionMode.Shared && mode != TransactionMode.Outbox;
        Assert.That(errors, Is.Empty);
        Assert.That(
            (ambient, ambientIsolation, isolation, inTransaction),
            Is.EqualTo((hasScope, hasScope ? "ReadCommitted" : "", "read committed", hasTransaction)));
    }

    [Test]
    public async Task The_same_connection_each_time_it_asks()
    {
        await using var bench = await BareBench.CreateAsync();

        var errors = await bench.HandleAsync(TransactionMode.FullDtc, async (context, cancellationToken) =>
        {
            var first = await context.GetConnectionAsync(cancellationToken);
            Assert.That(await context.GetConnectionAsync(cancellationToken), Is.SameAs(first));
        });

        Assert.That(errors, Is.Empty);
    }

    private static async Task<string> ScalarAsync(System.Data.Common.DbConnection connection, string query)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = query;
        return (string)(await command.ExecuteScalarAsync())!;
    }
}
