// A TransactionScope commits a prepared transaction that is not its own
//
// Versions: Npgsql 10.0.3, PostgreSQL 15, .NET 10
//
// Npgsql names a prepared transaction "distributed identifier/process id of the backend". Without MSDTC, as on Linux, the identifier is zeros. Process ids
// come again, in a container after each restart of the server. So a name can meet a transaction that a crash has left prepared.
//
// If a statement of the later session fails and the application catches the error, PostgreSQL answers PREPARE TRANSACTION with ROLLBACK. Npgsql does not look
// at the answer, and sends COMMIT PREPARED with that name. This commits what the crash has left, whatever became of its other half. If no statement fails,
// PREPARE TRANSACTION does ("already in use"), at each attempt on that session. The program stands in for the crash: it prepares that name itself.
//
// Expected: a name that is used once, and no COMMIT PREPARED after a ROLLBACK.
//
// Output:
//
//     Expected: the row of the earlier transaction is not committed
//     Happened: it is committed, by a scope that reports no exception
//
// Related: https://github.com/npgsql/npgsql/issues/6641 (open) is about the answer to PREPARE TRANSACTION, and shows such a name. We found no issue about the
// name (November 2026).
//
// Run: dotnet run npgsql-commits-a-stranger.cs -- "Host=…;Username=…;Database=…"
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

using var outside = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(database) { Enlist = false });
outside.CreateCommand("DROP TABLE IF EXISTS inserted; CREATE TABLE inserted (id int)").ExecuteNonQuery();
var (reported, name) = ("no exception", "");
try
{
    using var scope = new TransactionScope();
    using var first = Open();
    using var second = Open();
    name = $"{Guid.Empty}/{second.ProcessID}";
    // What a crash between the phases has left of an earlier session with this process id.
    using (var earlier = outside.OpenConnection())
    {
        Execute(earlier, "BEGIN; INSERT INTO inserted VALUES (1)");
        Execute(earlier, $"PREPARE TRANSACTION '{name}'");
    }

    try
    {
        Execute(second, "SELECT 1 / 0");
    }
    catch (PostgresException)
    {
        // The application goes on.
    }

    scope.Complete();
}
catch (TransactionException failure)
{
    reported = failure.GetType().Name;
}

var isCommitted = outside.CreateCommand("SELECT 1 FROM inserted").ExecuteScalar() is not null;
Console.WriteLine("Expected: the row of the earlier transaction is not committed");
Console.WriteLine($"Happened: it is {(isCommitted ? "" : "not ")}committed, by a scope that reports {reported}");
if (outside.CreateCommand($"SELECT 1 FROM pg_prepared_xacts WHERE gid = '{name}'").ExecuteScalar() is not null)
    outside.CreateCommand($"ROLLBACK PREPARED '{name}'").ExecuteNonQuery();
return isCommitted ? 1 : 0;

NpgsqlConnection Open()
{
    var connection = new NpgsqlConnection(database);
    connection.Open();
    return connection;
}

static void Execute(NpgsqlConnection connection, string statement)
{
    using var command = new NpgsqlCommand(statement, connection);
    command.ExecuteNonQuery();
}
