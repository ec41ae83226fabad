using System.Diagnostics;
using System.Text.RegularExpressions;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Runner.Servers;

/// <summary>Marks databases as the kit's, and removes those whose process ended without removing them.</summary>
internal static partial class DatabaseOwner
{
    public const string NamePrefix = "kit_";

    private static readonly TimeSpan ForItsSessions = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);

    private static string Comment => OwnerMark.Text.Replace("'", "''", StringComparison.Ordinal);

    /// <summary>A name that no other database has.</summary>
    public static string NewName() => $"{NamePrefix}{Guid.NewGuid().ToString("N")[..12]}";

    /// <summary>
    /// Creates a database that the next start finds if this process is killed. A cancellation waits for it: the server can come to the end of a statement
    /// that was cancelled, after the clean-up.
    /// </summary>
    /// <param name="template">Is copied; <see langword="null"/>: the server's own.</param>
    /// <exception cref="NpgsqlException">The server refuses it.</exception>
    /// <exception cref="OperationCanceledException">It was cancelled, and the database can be there.</exception>
    public static async Task CreateAsync(string server, string database, string? template, CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        await using var source = PatientSession.ToWorkOn(server);
        foreach (var sql in new[]
        {
            $"CREATE DATABASE {database}{(template is null ? "" : $" TEMPLATE {template}")}", $"COMMENT ON DATABASE {database} IS '{Comment}'",
        })
        {
            await using var create = source.CreateCommand(sql);
            // It waits for a checkpoint.
            create.CommandTimeout = 0;
            await create.ExecuteNonQueryAsync(CancellationToken.None);
        }

        cancellationToken.ThrowIfCancellationRequested();
    }

    /// <summary>Drops databases that crashed runs left on a server, as far as the role and the sessions of others let it.</summary>
    /// <exception cref="NpgsqlException">The server is out of reach.</exception>
    public static async Task<IReadOnlyList<Leftover>> RemoveLeftoversAsync(string server, CancellationToken cancellationToken)
    {
        var left = new List<string>();
        var leftovers = new List<Leftover>();
        await using (var source = NpgsqlDataSource.Create(server))
        {
            await using var command = source.CreateCommand(
                "SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database WHERE starts_with(datname, $1) AND pg_has_role(datdba, 'USAGE')");
            command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = NamePrefix });
            await using var reader = await command.ExecuteReaderAsync(cancellationToken);
            while (await reader.ReadAsync(cancellationToken))
            {
                var name = reader.GetString(0);
                // Somebody can have restored one under a name of their own, with its mark.
                if (!GivenName().IsMatch(name))
                    continue;

                if (await reader.IsDBNullAsync(1, cancellationToken))
                {
                    leftovers.Add(new Leftover(
                        name, $"{name} has no mark of its process, so it stays. If no kit is creating it now: DROP DATABASE {name};"));
                }
                else if (OwnerMark.IsOfEndedProcess(reader.GetString(1)))
                {
                    left.Add(name);
                }
            }
        }

        foreach (var database in left)
        {
            leftovers.Add(new Leftover(database, await TryDropAsync(server, database, cancellationToken) is { } because
                ? $"{database}, left by a crashed run, is still there: {because}. The next start tries again."
                : null));
        }

        return leftovers;
    }

    /// <summary>Drops a database as <see cref="DropAsync(string, string, CancellationToken)"/> does, if the server allows it now.</summary>
    /// <returns>Why it is still there; <see langword="null"/>: it is not.</returns>
    public static async Task<string?> TryDropAsync(string server, string database, CancellationToken cancellationToken)
    {
        try
        {
            await DropAsync(server, database, cancellationToken);
            return null;
        }
        catch (PostgresException refused)
        {
            // A session of another role is in it, such as a monitoring agent's; or another start drops it right now.
            return refused.MessageText;
        }
    }

    /// <summary>Drops a database if it exists, after rolling back the prepared transactions in it.</summary>
    public static async Task DropAsync(string server, string database, CancellationToken cancellationToken)
    {
        // The database may be another role's, which would choose what a superuser's session does there.
        await new PreparedTransactions(server).RollBackAllAsync(database, cancellationToken);
        await using var source = PatientSession.ToWorkOn(server);
        await EndSessionsAsync(source, database, cancellationToken);
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
        await using var settled = PatientSession.ToWorkOn(database);
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

    /// <summary>Ends the role's own sessions. FORCE ends none while another role's is there, and not that of a replication slot.</summary>
    private static async Task EndSessionsAsync(NpgsqlDataSource source, string database, CancellationToken cancellationToken)
    {
        for (var watch = Stopwatch.StartNew(); watch.Elapsed < ForItsSessions; await Task.Delay(Pause, cancellationToken))
        {
            await using var end = source.CreateCommand(
                """
                SELECT (SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                        WHERE datname = $1 AND pid <> pg_backend_pid() AND pg_has_role(usesysid, 'USAGE'))
                     + (SELECT count(*) FROM pg_replication_slots WHERE database = $1 AND active)
                """);
            end.Parameters.Add(new NpgsqlParameter<string> { TypedValue = database });
            if (await end.ExecuteScalarAsync(cancellationToken) is 0L)
                return;
        }
    }

    private static async Task DropAsync(NpgsqlDataSource source, string what, CancellationToken cancellationToken)
    {
        await using var drop = source.CreateCommand($"DROP DATABASE IF EXISTS {what}");
        // It waits for a checkpoint, which takes long while a disk is busy.
        drop.CommandTimeout = 0;
        await drop.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>
    /// The names that <see cref="NewName"/> gives, and those of a run's databases. A kit that is killed before it could mark one leaves it for its user to
    /// judge.
    /// </summary>
    [GeneratedRegex(
        $"^{NamePrefix}(?:[0-9a-f]{{12}}|[0-9a-f]{{8}}_(?:template|queue|widgets)(?:_[0-9]+)?)$", RegexOptions.NonBacktracking)]
    private static partial Regex GivenName();

    /// <summary>A name for use in a statement.</summary>
    public static string Quoted(string database)
    {
        using var quoting = new NpgsqlCommandBuilder();
        return quoting.QuoteIdentifier(database);
    }
}

/// <summary>A database or virtual host that a crashed run left on a server.</summary>
/// <param name="Kept">A sentence that says why it is still there; <see langword="null"/>: it was removed.</param>
internal sealed record Leftover(string Name, string? Kept = null)
{
    /// <summary>A line for the user.</summary>
    public override string ToString() => Kept ?? $"Removed {Name}, left by a crashed run.";
}
