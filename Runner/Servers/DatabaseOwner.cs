using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Runner.Servers;

/// <summary>Marks databases as the kit's, and removes those whose process ended without removing them.</summary>
internal static class DatabaseOwner
{
    public const string NamePrefix = "kit_";

    public static string Comment => OwnerMark.Text.Replace("'", "''", StringComparison.Ordinal);

    /// <summary>Drops databases that crashed runs left on a server, as far as the role may.</summary>
    /// <returns>The names of the dropped databases.</returns>
    public static async Task<IReadOnlyList<string>> RemoveLeftoversAsync(string server, CancellationToken cancellationToken)
    {
        var leftovers = new List<string>();
        await using (var source = NpgsqlDataSource.Create(server))
        {
            await using var command = source.CreateCommand(
                "SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database WHERE starts_with(datname, $1) AND pg_has_role(datdba, 'USAGE')");
            command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = NamePrefix });
            await using var reader = await command.ExecuteReaderAsync(cancellationToken);
            while (await reader.ReadAsync(cancellationToken))
            {
                if (!await reader.IsDBNullAsync(1, cancellationToken) && OwnerMark.IsOfEndedProcess(reader.GetString(1)))
                    leftovers.Add(reader.GetString(0));
            }
        }

        foreach (var database in leftovers)
            await DropAsync(server, database, cancellationToken);

        return leftovers;
    }

    /// <summary>Drops a database if it exists, after rolling back the prepared transactions in it.</summary>
    public static async Task DropAsync(string server, string database, CancellationToken cancellationToken)
    {
        // The database may be another role's, which would choose what a superuser's session does there.
        await new PreparedTransactions(server).RollBackAllAsync(database, cancellationToken);
        await using var source = NpgsqlDataSource.Create(server);
        try
        {
            await DropAsync(source, $"{Quoted(database)} WITH (FORCE)", cancellationToken);
        }
        catch (PostgresException refused) when (refused.SqlState == PostgresErrorCodes.InsufficientPrivilege)
        {
            // A role that is no superuser may not end an autovacuum worker in it. Without FORCE the server does that itself.
            await DropAsync(source, Quoted(database), cancellationToken);
        }
    }

    /// <summary>Vacuums a database and makes a checkpoint, so that the server does neither of its own while it is measured.</summary>
    public static async Task SettleAsync(string database, CancellationToken cancellationToken)
    {
        await using var settled = NpgsqlDataSource.Create(database);
        await using var vacuum = settled.CreateCommand("VACUUM (ANALYZE)");
        // As a checkpoint, it takes long while a disk is busy.
        vacuum.CommandTimeout = 0;
        await vacuum.ExecuteNonQueryAsync(cancellationToken);
        try
        {
            await using var checkpoint = settled.CreateCommand("CHECKPOINT");
            checkpoint.CommandTimeout = 0;
            await checkpoint.ExecuteNonQueryAsync(cancellationToken);
        }
        catch (PostgresException refused) when (refused.SqlState == PostgresErrorCodes.InsufficientPrivilege)
        {
            // A server of the user's own, with a role that is neither superuser nor pg_checkpoint.
        }
    }

    private static async Task DropAsync(NpgsqlDataSource source, string what, CancellationToken cancellationToken)
    {
        await using var drop = source.CreateCommand($"DROP DATABASE IF EXISTS {what}");
        // It waits for a checkpoint, which takes long while a disk is busy.
        drop.CommandTimeout = 0;
        await drop.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>A name for use in a statement.</summary>
    public static string Quoted(string database)
    {
        using var quoting = new NpgsqlCommandBuilder();
        return quoting.QuoteIdentifier(database);
    }
}
