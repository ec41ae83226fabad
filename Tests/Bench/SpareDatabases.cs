using System.Collections.Concurrent;
using Npgsql;

namespace Kit.Tests;

/// <summary>
/// Databases of tests that have ended, emptied and under another name for the next test: making and dropping one costs the server more
/// processor time than most tests do. One that cannot be made as new is dropped.
/// </summary>
/// <param name="server">Connection string of the server, as a superuser.</param>
internal sealed class SpareDatabases(string server) : IAsyncDisposable
{
    // Before PostgreSQL 15 a new database gives other rights on its schema.
    private const string CanBeAsNew =
        """
        SELECT current_setting('server_version_num')::int >= 150000 AND datallowconn AND datacl IS NULL
            AND NOT EXISTS (SELECT FROM pg_db_role_setting WHERE setdatabase = pg_database.oid)
            AND NOT EXISTS (SELECT FROM pg_prepared_xacts WHERE database = datname)
        FROM pg_database WHERE datname = $1
        """;

    private const string EndSessions = "SELECT count(pg_terminate_backend(pid, 10000)) > 0 FROM pg_stat_activity WHERE datname = $1";

    private const string MakeAsNew =
        """
        DROP SCHEMA public CASCADE;
        CREATE SCHEMA public AUTHORIZATION pg_database_owner;
        GRANT USAGE ON SCHEMA public TO PUBLIC;
        DO $$ BEGIN
            IF EXISTS (SELECT FROM pg_namespace WHERE nspname NOT IN ('public', 'information_schema') AND NOT starts_with(nspname, 'pg_')) THEN
                RAISE 'it has another schema';
            END IF;
        END $$
        """;

    private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(server) { Enlist = false });
    private readonly ConcurrentBag<string> spares = [];

    /// <summary>Makes an empty database of that name.</summary>
    public Task TakeAsync(string name) =>
        ExecuteAsync(spares.TryTake(out var spare) ? $"ALTER DATABASE {spare} RENAME TO {name}" : $"CREATE DATABASE {name}");

    /// <summary>Ends a database's sessions, and empties it or drops it. Whoever still has its name finds nothing under it.</summary>
    /// <exception cref="PostgresException">Something is left prepared in it.</exception>
    public async Task GiveBackAsync(string name)
    {
        if (!await AskAsync(CanBeAsNew, name))
        {
            await DropAsync(name);
            return;
        }

        var spare = $"spare_{Guid.NewGuid():N}";
        var current = name;
        await AskAsync(EndSessions, name);
        try
        {
            await ExecuteAsync($"ALTER DATABASE {name} RENAME TO {spare}");
            current = spare;
            await TestDatabases.ExecuteAsync(new NpgsqlConnectionStringBuilder(server) { Database = spare }.ConnectionString, MakeAsNew);
            spares.Add(spare);
        }
        catch (NpgsqlException)
        {
            // Somebody connected again in between, or it cannot be made as new.
            await DropAsync(current);
        }
    }

    public ValueTask DisposeAsync() => source.DisposeAsync();

    private Task DropAsync(string name) => ExecuteAsync($"DROP DATABASE {name} WITH (FORCE)");

    private async Task ExecuteAsync(string statement)
    {
        await using var command = source.CreateCommand(statement);
        command.CommandTimeout = TestDatabases.Patience;
        await command.ExecuteNonQueryAsync();
    }

    private async Task<bool> AskAsync(string question, string name)
    {
        await using var command = source.CreateCommand(question);
        command.CommandTimeout = TestDatabases.Patience;
        command.Parameters.Add(new() { Value = name });
        return (bool)(await command.ExecuteScalarAsync())!;
    }
}
