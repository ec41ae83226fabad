// A connection closed within its TransactionScope goes back to the pool with its session's settings and locks
//
// Versions: Npgsql 10.0.3, PostgreSQL 15, .NET 10
//
// Outside a scope, the next user of a pooled connection finds it reset (DISCARD ALL). If the connection is closed within its scope, as `using` does, it is
// not reset, neither then nor when the scope has ended. The next user finds the search path, the role and the session's advisory locks of the one before.
// With another search_path it writes to other tables.
//
// Expected: the connection is reset before somebody else gets it.
//
// Output:
//
//     Expected: search_path "$user", public; 0 advisory lock(s)
//     Happened: search_path elsewhere; 1 advisory lock(s)
//
// Related: https://github.com/npgsql/npgsql/issues/4451 (open) is this defect, seen with a role. https://github.com/npgsql/npgsql/pull/6424 (merged for
// version 11) mends it, by its source. To add to 4451: this program, and the request to release 6424 in 10.0. Searched in November 2026.
//
// Run: dotnet run npgsql-settings-left.cs -- "Host=…;Username=…;Database=…"
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

// One physical connection, so that the second user gets that of the first.
database = new NpgsqlConnectionStringBuilder(database) { MaxPoolSize = 1 }.ConnectionString;
const string Ask =
    "SELECT format('search_path %s; %s advisory lock(s)', current_setting('search_path'), count(*)) " +
    "FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()";
const string Set = "SET search_path TO elsewhere; SELECT pg_advisory_lock(1)";

Use(Set);
var withoutScope = Use(Ask);
using (var scope = new TransactionScope())
{
    Use(Set);
    scope.Complete();
}

var withScope = Use(Ask);
Console.WriteLine($"Expected: {withoutScope}");
Console.WriteLine($"Happened: {withScope}");
return Equals(withoutScope, withScope) ? 0 : 1;

object? Use(string statement)
{
    using var connection = new NpgsqlConnection(database);
    connection.Open();
    using var command = new NpgsqlCommand(statement, connection);
    return command.ExecuteScalar();
}
