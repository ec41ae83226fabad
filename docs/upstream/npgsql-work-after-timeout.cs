// A statement after the time-out of its TransactionScope is committed, while the work before it is rolled back
//
// Versions: Npgsql 10.0.3, PostgreSQL 15, .NET 10
//
// When the scope times out, Npgsql rolls back and un-enlists the open connection. The application does not notice. Its next statement on that connection
// runs outside any transaction, and PostgreSQL commits it at once. The end of the scope throws, and half of the work is in the database. SqlClient detaches,
// too, by default (Transaction Binding=Implicit Unbind), and has Explicit Unbind, with which such a statement throws. Npgsql has no such setting.
//
// Expected: a setting with which a statement on that connection, after the end of the scope's transaction, throws.
//
// Output:
//
//     Expected: an exception at the second insert, and 0 rows
//     Happened: no exception at the second insert, TransactionAbortedException at the end of the scope, committed rows: 2
//
// Related: https://github.com/npgsql/npgsql/issues/495 (open) is about a statement that runs while the scope times out;
// https://github.com/npgsql/npgsql/issues/1611 (open) is about the race of the two. Here the time-out is over before the next statement begins.
// https://github.com/npgsql/npgsql/issues/5079 (open) reports other exceptions after a time-out. Npgsql's test Timeout_triggers_rollback_while_busy is
// ignored because the time-out does not seem to fire on Linux: here it does. Searched in November 2026.
//
// Run: dotnet run npgsql-work-after-timeout.cs -- "Host=…;Username=…;Database=…"
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
var (atInsert, atEnd) = ("no exception", "no exception");
try
{
    using var scope = new TransactionScope(TransactionScopeOption.Required, TimeSpan.FromSeconds(1));
    using var connection = new NpgsqlConnection(database);
    connection.Open();
    using var timedOut = new ManualResetEventSlim();
    Transaction.Current!.TransactionCompleted += (_, _) => timedOut.Set();
    Insert(connection, id: 1);
    timedOut.Wait();
    try
    {
        Insert(connection, id: 2);
    }
    catch (Exception failure) when (failure is NpgsqlException or TransactionException or InvalidOperationException)
    {
        atInsert = failure.GetType().Name;
    }

    scope.Complete();
}
catch (TransactionException failure)
{
    atEnd = failure.GetType().Name;
}

var committed = outside.CreateCommand("SELECT coalesce(string_agg(id::text, ', '), 'none') FROM inserted").ExecuteScalar();
Console.WriteLine("Expected: an exception at the second insert, and 0 rows");
Console.WriteLine($"Happened: {atInsert} at the second insert, {atEnd} at the end of the scope, committed rows: {committed}");
return committed is "none" ? 0 : 1;

static void Insert(NpgsqlConnection connection, int id)
{
    using var insert = new NpgsqlCommand($"INSERT INTO inserted VALUES ({id})", connection);
    insert.ExecuteNonQuery();
}
