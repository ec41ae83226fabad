// TransactionScope reports success although one of its transactions is not committed but left prepared
//
// Versions: Npgsql 10.0.3, PostgreSQL 15, .NET 10
//
// Two connections take part in a TransactionScope, are closed within it, and Npgsql commits them in two phases. The session of one ends after its
// PREPARE TRANSACTION (a server's restart, a lost connection). Npgsql sends COMMIT PREPARED on the dead session, logs the error (event 31006) and ends the
// enlistment. The scope succeeds, the rows are not visible, and the transaction stays prepared with its locks until somebody ends it by hand. If the
// connection is still open at the end of the scope, Npgsql sends COMMIT PREPARED on a new one, and nothing is lost.
//
// Expected: a new connection in both cases.
//
// Output:
//
//     Expected: 2 rows and 0 prepared transactions, or an exception
//     Happened: 1 row(s), 1 prepared transaction(s), no exception
//
// Related: https://github.com/npgsql/npgsql/issues/1378 (open) asks for recovery after a crash. This needs no crash of the application. In Npgsql's own test,
// Two_connections_with_failure, the session ends before PREPARE TRANSACTION. Searched in November 2026.
//
// Run: dotnet run npgsql-second-phase-lost.cs -- "Host=…;Username=…;Database=…"
// The user must be able to end the sessions; max_prepared_transactions must be above 0. The program rolls back at its end what it has left prepared.
// Exit code: 1 if the defect is there, 0 if it is not, 2 for missing arguments.
#:package Npgsql@10.0.3
#:property PublishAot=false

using System.Transactions;
using Npgsql;

if (args is not [var database])
{
    Console.Error.WriteLine("Give a connection string.");
    return 2;
}

using var outside = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(database) { Enlist = false });
outside.CreateCommand("DROP TABLE IF EXISTS inserted; CREATE TABLE inserted (id int)").ExecuteNonQuery();
var (reported, name) = ("no exception", "");
try
{
    using var scope = new TransactionScope();
    using var first = Insert();
    using var second = Insert();
    name = $"{Guid.Empty}/{second.ProcessID}";
    // Enlisted last, it prepares after both connections, and ends the session of one.
    Transaction.Current!.EnlistVolatile(new EndsASession(outside, second.ProcessID), EnlistmentOptions.None);
    scope.Complete();
}
catch (TransactionException failure)
{
    reported = failure.GetType().Name;
}

var rows = Count("inserted");
var prepared = Count($"pg_prepared_xacts WHERE gid = '{name}'");
Console.WriteLine("Expected: 2 rows and 0 prepared transactions, or an exception");
Console.WriteLine($"Happened: {rows} row(s), {prepared} prepared transaction(s), {reported}");

if (prepared > 0)
    outside.CreateCommand($"ROLLBACK PREPARED '{name}'").ExecuteNonQuery();
return prepared > 0 && reported == "no exception" ? 1 : 0;

NpgsqlConnection Insert()
{
    var connection = new NpgsqlConnection(database);
    connection.Open();
    using var insert = new NpgsqlCommand("INSERT INTO inserted VALUES (1)", connection);
    insert.ExecuteNonQuery();
    return connection;
}

long Count(string what) => (long)outside.CreateCommand($"SELECT count(*) FROM {what}").ExecuteScalar()!;

internal sealed class EndsASession(NpgsqlDataSource outside, int process) : IEnlistmentNotification
{
    public void Prepare(PreparingEnlistment preparing)
    {
        outside.CreateCommand($"SELECT pg_terminate_backend({process}, 10000)").ExecuteNonQuery();
        preparing.Prepared();
    }

    public void Commit(Enlistment enlistment) => enlistment.Done();

    public void Rollback(Enlistment enlistment) => enlistment.Done();

    public void InDoubt(Enlistment enlistment) => enlistment.Done();
}
