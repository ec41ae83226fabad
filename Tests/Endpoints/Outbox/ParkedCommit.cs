using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>
/// Lets every transaction that changes a table wait in its commit, until it is let go or ended. A session that waits there commits all the same
/// when its client is dead.
/// </summary>
internal sealed class ParkedCommit : IAsyncDisposable
{
    private const string Waiting =
        "FROM pg_locks WHERE locktype = 'advisory' AND NOT granted " +
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

    private readonly string database;
    private readonly string table;
    private readonly NpgsqlConnection holder;

    private ParkedCommit(string database, string table, NpgsqlConnection holder)
    {
        this.database = database;
        this.table = table;
        this.holder = holder;
    }

    /// <param name="database">Connection string.</param>
    /// <param name="table">A table in it.</param>
    /// <param name="change">INSERT or DELETE.</param>
    public static async Task<ParkedCommit> PrepareAsync(string database, string table, string change)
    {
        await TestDatabases.ExecuteAsync(
            database,
            $"""
            CREATE FUNCTION park() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END';
            CREATE CONSTRAINT TRIGGER park AFTER {change} ON "{table}" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION park();
            """);
        var connection = new NpgsqlConnection(new NpgsqlConnectionStringBuilder(database) { Pooling = false }.ConnectionString);
        await connection.OpenAsync();
        await using var hold = new NpgsqlCommand("SELECT pg_advisory_lock(1)", connection);
        await hold.ExecuteNonQueryAsync();
        return new ParkedCommit(database, table, connection);
    }

    public async Task<bool> IsReachedAsync() => await TestDatabases.ScalarAsync(database, $"SELECT count(*)::int {Waiting}") > 0;

    /// <summary>Ends what waits, with or without its commit, and lets no other wait.</summary>
    public async Task EndAsync(bool commits)
    {
        if (!commits)
            await TestDatabases.ScalarAsync(database, $"SELECT count(pg_terminate_backend(pid))::int {Waiting}");

        await holder.DisposeAsync();
        await Eventually.HoldsAsync(async () => !await IsReachedAsync(), "no commit waits");
        await TestDatabases.ExecuteAsync(database, $"DROP TRIGGER park ON \"{table}\"");
    }

    public ValueTask DisposeAsync() => holder.DisposeAsync();
}
