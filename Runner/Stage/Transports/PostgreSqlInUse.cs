using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Runner.Stage.Transports;

/// <summary>A PostgreSQL server of a command.</summary>
internal sealed class PostgreSqlInUse : DatabaseInUse
{
    private static readonly string[] Durability =
    [
        "server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "wal_level", "shared_buffers",
        "max_wal_size", "checkpoint_timeout", "max_prepared_transactions", "track_commit_timestamp",
        "max_connections", "default_transaction_isolation",
    ];

    private readonly PostgreSqlTransport transport;
    private readonly PrivatePostgreSql? own;
    private KitDatabases? databases;
    private int? postmaster;

    private PrivatePostgreSql Own => own ?? throw new InvalidOperationException("The database server is the user's, and is not stopped.");

    /// <param name="named">Connection string of the user's server.</param>
    public PostgreSqlInUse(PostgreSqlTransport transport, string named) => (this.transport, ConnectionString) = (transport, named);

    /// <param name="own">The kit's own server, which is stopped and removed with this.</param>
    public PostgreSqlInUse(PostgreSqlTransport transport, PrivatePostgreSql own)
        : this(transport, own.ConnectionString) => (this.own, postmaster) = (own, own.PostmasterPid);

    private string What => transport.HoldsWidgets ? "the database server" : "the queue's database server";

    public override string ConnectionString { get; }

    public override IReadOnlyList<int>? Processes => postmaster is { } process ? [process] : null;

    public override string? Version => own?.Version.ToString();

    public override IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { [transport.Server!.Variable!] = ConnectionString };

    public KitDatabases Databases => databases ??= new KitDatabases(ConnectionString);

    protected override IWidgetStore Store => Databases;

    /// <summary>The kit's own server records commit timestamps; the user's is asked.</summary>
    public override async Task<ClockSource> ReadClockAsync(CancellationToken cancellationToken) =>
        own is not null || (await PostgreSqlFacts.ReadAsync(ConnectionString, cancellationToken)).TracksCommitTimestamps
            ? ClockSource.CommitTimestamps
            : ClockSource.HandlerCompletions;

    public override async Task<IReadOnlyDictionary<string, string>?> ReadFactsAsync(CancellationToken cancellationToken)
    {
        var facts = transport.FactsOf(this);
        facts["connections"] = EndpointConnections.Description;
        await using var source = NpgsqlDataSource.Create(EndpointConnections.ForRunner(ConnectionString));
        await using var command = source.CreateCommand("SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY($1)");
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = Durability });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        while (await reader.ReadAsync(cancellationToken))
            facts[reader.GetString(0)] = reader.GetString(1);

        return facts;
    }

    /// <summary>Next to the widgets, or in a database of this server if they are on another.</summary>
    public override async Task<RoundTransport> OpenAsync(Cell cell, string queue, IQueueStore databases, CancellationToken cancellationToken)
    {
        if (transport.HoldsWidgets)
            return await base.OpenAsync(cell, queue, databases, cancellationToken);

        var queues = await Databases.CreateEmptyAsync(cancellationToken);
        if (databases is RoundDatabases ofWidgets)
        {
            ofWidgets.Apart = queues;
            queues.ResetsSessions = ofWidgets.ResetsSessions;
        }

        return new RoundTransport(queue, queues.QueueForEndpoint(cell), queues.QueueForRunner(cell), queues.DisposeAsync);
    }

    public override Task<IReadOnlyList<Leftover>> RemoveLeftoversAsync(CancellationToken cancellationToken) =>
        DatabaseOwner.RemoveLeftoversAsync(ConnectionString, cancellationToken);

    /// <inheritdoc/>
    /// <remarks>
    /// The log's writer flushes what nobody waits for, by default five times a second. 10 s is the most that it can be told to wait. They begin when it reads
    /// its settings again.
    /// </remarks>
    public override async Task DelayFlushesAsync(CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(EndpointConnections.ForRunner(Own.ConnectionString));
        foreach (var statement in new[] { "ALTER SYSTEM SET wal_writer_delay = '10s'", "SELECT pg_reload_conf()" })
        {
            await using var command = source.CreateCommand(statement);
            await command.ExecuteNonQueryAsync(cancellationToken);
        }
    }

    public override async Task<string> CrashAsync(CancellationToken cancellationToken)
    {
        var before = postmaster;
        await RestartAsync(TimeSpan.Zero, cancellationToken);
        return $"{What} (process {before}) was stopped without a checkpoint; process {postmaster} recovered";
    }

    public override async Task<string> KillAsync(CancellationToken cancellationToken)
    {
        var before = postmaster;
        Own.Kill();
        await Own.StartAfterKillAsync(cancellationToken);
        ForgetConnections();
        return $"every process of {What} ({before}) was killed; process {postmaster} recovered";
    }

    public override async Task<string> StayAwayAsync(TimeSpan time, CancellationToken cancellationToken)
    {
        await RestartAsync(time, cancellationToken);
        return $"{What} was down for {time.TotalSeconds} s; process {postmaster} recovered";
    }

    /// <inheritdoc/>
    /// <remarks>The databases of a server of the kit's own go with its folder.</remarks>
    public override ValueTask DisposeAsync() => own is null ? DropAsync(databases) : own.DisposeAsync();

    private async Task RestartAsync(TimeSpan away, CancellationToken cancellationToken)
    {
        await Own.StopImmediatelyAsync(cancellationToken);
        await Task.Delay(away, cancellationToken);
        await Own.RestartAsync(cancellationToken);
        ForgetConnections();
    }

    private void ForgetConnections()
    {
        postmaster = Own.PostmasterPid;
        // The pooled connections of this process are broken.
        NpgsqlConnection.ClearAllPools();
    }
}
