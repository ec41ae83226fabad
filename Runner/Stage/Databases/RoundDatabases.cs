using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Npgsql;

namespace Kit.Runner.Stage.Databases;

/// <summary>The two databases of one round in PostgreSQL.</summary>
internal sealed class RoundDatabases(KitDatabases databases, string queue, string widgets) : IRoundStore
{
    private WidgetTable? table;

    /// <summary>Connection string of the queue's own database, for transports in PostgreSQL.</summary>
    public string Queue => queue;

    /// <summary>Connection string of the widgets' database.</summary>
    public string Widgets => widgets;

    /// <summary>True if the endpoint's driver resets a session that a handler has used, as it does by default. Rounds leave that out.</summary>
    public bool ResetsSessions { get; set; }

    /// <summary>The databases on the queue's server, if that is another; <see langword="null"/>: the queue is in <see cref="Queue"/>.</summary>
    public RoundDatabases? Apart { get; set; }

    public string QueueForEndpoint(TransactionMode mode) => EndpointConnections.For(QueueOf(mode), ResetsSessions);

    public string QueueForRunner(TransactionMode mode) => EndpointConnections.ForRunner(QueueOf(mode));

    public string WidgetsForEndpoint => EndpointConnections.For(widgets, ResetsSessions);

    public string WidgetsForRunner => EndpointConnections.ForRunner(widgets);

    public IReadOnlyList<string> Names => [NameIn(queue), NameIn(widgets)];

    private WidgetTable Table => table ??= new WidgetTable(widgets);

    public Task PrepareAsync(string statements, CancellationToken cancellationToken) => Table.ExecuteAsync(statements, cancellationToken);

    public async Task<long?> ReadTotalAsync(Scenario scenario, CancellationToken cancellationToken) =>
        scenario.Total is { } query ? await Table.ScalarAsync<long>(query, cancellationToken) : null;

    public Task<IReadOnlyList<Widget>> ReadSeededAsync(int most, CancellationToken cancellationToken) => Table.ReadSeededAsync(most, cancellationToken);

    public Task<long> CountAsync(CancellationToken cancellationToken) => Table.CountAsync(cancellationToken);

    public Task<IReadOnlyList<BuiltWidget>> ReadBuiltAsync(bool withCommitTime, CancellationToken cancellationToken) =>
        Table.ReadBuiltAsync(withCommitTime, cancellationToken);

    public async Task<IReadOnlyList<PreparedTransaction>> ReadPreparedAsync(CancellationToken cancellationToken) =>
    [
        .. await Table.ReadPreparedAsync(Names, cancellationToken),
        .. Apart is null ? [] : await Apart.ReadPreparedAsync(cancellationToken),
    ];

    public Task<TimeSpan> ClockAheadAsync(CancellationToken cancellationToken) => Table.ClockAheadAsync(cancellationToken);

    public Task SettleAsync(TransactionMode mode, CancellationToken cancellationToken) => WidgetTable.SettleAsync(QueueOf(mode), cancellationToken);

    public async Task<ServerCounters?> ReadCountersAsync(CancellationToken cancellationToken)
    {
        await using var server = new NpgsqlConnection(EndpointConnections.ForRunner(databases.Server));
        await server.OpenAsync(cancellationToken);
        var counters = await ServerCounters.ReadAsync(server, Names, cancellationToken);
        return Apart is null ? counters : counters with { Apart = await Apart.ReadCountersAsync(cancellationToken) };
    }

    public async ValueTask DisposeAsync()
    {
        if (table is not null)
            await table.DisposeAsync();
        foreach (var name in Names)
            await databases.DropAsync(name);
    }

    // Its own database, or that of the widgets in a mode that needs one database.
    private string QueueOf(TransactionMode mode) => mode.NeedsOneDatabase ? widgets : Apart?.Queue ?? queue;

    private static string NameIn(string connection) => new NpgsqlConnectionStringBuilder(connection).Database!;
}
