using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Npgsql;

namespace Kit.Runner.Faults.Testbeds;

/// <summary>Reads, after each kill and before the next process starts, the transactions that the kill left open in the kit's two-phase commit.</summary>
/// <param name="data">The server with the branches.</param>
/// <param name="apart">The server with the queue; <see langword="null"/>: it is the same one.</param>
internal sealed class WindowsWatch(WatchedServer data, WatchedServer? apart, string journal)
{
    /// <summary>The endpoint's sessions end when the server notices that their client has ended.</summary>
    private const string Sessions =
        "SELECT count(*) FROM pg_stat_activity WHERE datname = ANY($1) AND starts_with(application_name, 'kit endpoint')";

    private const string Branches = "SELECT gid FROM pg_prepared_xacts WHERE database = ANY($1) AND gid ~ '^kit2?/'";

    private const string DecidedByTheReceive = "pg_xact_status(split_part(gid, '/', 4)::xid8) = 'committed'";

    private const string DecidedByTheWorker =
        "EXISTS (SELECT FROM kit_worker WHERE id = split_part(gid, '/', 3)::uuid AND split_part(gid, '/', 4)::bigint = ANY (open))";

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(5);

    private DateTimeOffset earlier = DateTimeOffset.MinValue;

    public WindowsMet Met { get; private set; } = WindowsMet.None;

    /// <summary>Adds the transactions that the last kill left open.</summary>
    public async Task LookAsync(CancellationToken cancellationToken)
    {
        foreach (var server in new[] { data, apart }.OfType<WatchedServer>())
        {
            while ((await ReadAsync<long>(server, Sessions, server.Databases, cancellationToken))[0] > 0)
                await Task.Delay(Pause, cancellationToken);
        }

        var branches = await ReadAsync<string>(data, Branches, data.Databases, cancellationToken);
        var decided = await ReadAsync<bool>(
            apart ?? data, $"SELECT {(apart is null ? DecidedByTheReceive : DecidedByTheWorker)} FROM unnest($1) AS gid", branches, cancellationToken);
        var isHandlerOpen = WindowsMet.IsAHandlerOpen(AttemptJournal.ReadEnd(journal), earlier);
        Met = Met.With(isHandlerOpen, isPrepared: decided.Contains(false), isDecided: decided.Contains(true));
        // The next process starts after this moment.
        earlier = DateTimeOffset.UtcNow;
    }

    private static async Task<IReadOnlyList<T>> ReadAsync<T>(
        WatchedServer server, string query, IReadOnlyList<string> texts, CancellationToken cancellationToken)
    {
        await using var command = server.Source.CreateCommand(query);
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. texts] });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var values = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            values.Add(await reader.GetFieldValueAsync<T>(0, cancellationToken));
        return values;
    }
}

/// <summary>A server with databases of an experiment.</summary>
internal sealed record WatchedServer(NpgsqlDataSource Source, IReadOnlyList<string> Databases);
