// A commit that PostgreSQL answers with ROLLBACK is reported as a success
//
// Versions: Npgsql 10.0.3, PostgreSQL 15, .NET 10
//
// A statement fails, and the application catches the error and goes on. PostgreSQL has aborted the transaction. It answers COMMIT and
// PREPARE TRANSACTION not with an error but with the command tag ROLLBACK. Npgsql does not look at the tag. Commit() returns, or the scope completes, as
// if the rows were there.
//
// Expected: an exception, so that the application learns that its rows are not committed.
//
// Output:
//
//     Expected of NpgsqlTransaction: 1 row, or an exception
//     Happened: 0 row(s), no exception
//     Expected of TransactionScope, one connection: 1 row, or an exception
//     Happened: 0 row(s), no exception
//     Expected of TransactionScope, two connections: 2 rows, or an exception
//     Happened: 1 row(s), no exception
//
// Related: https://github.com/npgsql/npgsql/issues/6641 (open) is the third case. The first two do not use PREPARE TRANSACTION, so a check there does
// not mend them. https://github.com/npgsql/npgsql/issues/2847 (closed) may be an instance. pgjdbc (https://github.com/pgjdbc/pgjdbc/pull/1729) turns this
// answer into an exception; https://github.com/tlocke/pg8000/issues/36 and https://github.com/psycopg/psycopg2/issues/1213 (the third case) are about it in
// other drivers. Searched in November 2026.
//
// Run: dotnet run npgsql-rollback-as-commit.cs -- "Host=…;Username=…;Database=…"
// The server needs max_prepared_transactions above 0. Exit code: 1 if the defect is there, 0 if it is not, 2 for missing arguments.
#:package Npgsql@10.0.3
#:property PublishAot=false

using System.Transactions;
using Npgsql;

if (args is not [var database])
{
    Console.Error.WriteLine("Give a connection string.");
    return 2;
}

var isThere = false;

Try("NpgsqlTransaction", expected: 1, () =>
{
    using var connection = Open();
    using var transaction = connection.BeginTransaction();
    Insert(connection);
    Fail(connection);
    transaction.Commit();
});
Try("TransactionScope, one connection", expected: 1, () =>
{
    // Closed after the scope's end, so that a reset of the session is not sent with the commit.
    using var connection = new NpgsqlConnection(database);
    using var scope = new TransactionScope();
    connection.Open();
    Insert(connection);
    Fail(connection);
    scope.Complete();
});
Try("TransactionScope, two connections", expected: 2, () =>
{
    using var scope = new TransactionScope();
    using var first = Open();
    using var second = Open();
    Insert(first);
    Insert(second);
    Fail(second);
    scope.Complete();
});
return isThere ? 1 : 0;

void Try(string name, long expected, Action act)
{
    using var connection = Open();
    Execute(connection, "DROP TABLE IF EXISTS inserted; CREATE TABLE inserted (id int)");
    var reported = "no exception";
    try
    {
        act();
    }
    catch (Exception failure) when (failure is NpgsqlException or TransactionException)
    {
        reported = failure.GetType().Name;
    }

    using var count = new NpgsqlCommand("SELECT count(*) FROM inserted", connection);
    var rows = (long)count.ExecuteScalar()!;
    isThere |= rows < expected && reported == "no exception";
    Console.WriteLine($"Expected of {name}: {expected} row{(expected == 1 ? "" : "s")}, or an exception");
    Console.WriteLine($"Happened: {rows} row(s), {reported}");
}

NpgsqlConnection Open()
{
    var connection = new NpgsqlConnection(database);
    connection.Open();
    return connection;
}

static void Insert(NpgsqlConnection connection) => Execute(connection, "INSERT INTO inserted VALUES (1)");

static void Fail(NpgsqlConnection connection)
{
    try
    {
        Execute(connection, "SELECT 1 / 0");
    }
    catch (PostgresException)
    {
        // The application goes on.
    }
}

static void Execute(NpgsqlConnection connection, string statement)
{
    using var command = new NpgsqlCommand(statement, connection);
    command.ExecuteNonQuery();
}
