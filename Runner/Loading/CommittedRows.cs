using Kit.Handlers;
using Kit.Runner.Results.Loads;
using Kit.Runner.Rounds;
using Npgsql;

namespace Kit.Runner.Loading;

/// <summary>The rows that handlers insert.</summary>
/// <remarks>
/// The ids of rows contain the time at which the handler made them. So the question reads, in the primary key's index, only the rows that are not older
/// than the oldest awaited message, and needs no index on the message's id, which would make each insert more expensive.
/// </remarks>
/// <param name="widgets">Connection string of the widgets' database.</param>
internal sealed class CommittedRows(string widgets) : CommittedEffects
{
    // A clock that was set back a little makes no row invisible.
    private static readonly TimeSpan Slack = TimeSpan.FromMilliseconds(50);

    private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(EndpointConnections.ForOneQuestion(widgets));

    public override EffectClock Clock => EffectClock.RowCommit;

    public override Task<IReadOnlyDictionary<Guid, DateTimeOffset>> EndAsync(
        IReadOnlyList<BuiltWidget> built, TimeSpan serverAhead, CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyDictionary<Guid, DateTimeOffset>>(built
            .GroupBy(widget => widget.MessageId)
            .ToDictionary(rows => rows.Key, rows => rows.Min(row => row.Committed!.Value) - serverAhead));

    public override async ValueTask DisposeAsync()
    {
        await base.DisposeAsync();
        await source.DisposeAsync();
    }

    protected override long[] Mark() => [WidgetId.LowestAt(DateTime.UtcNow - Slack)];

    protected override async Task AskAsync(long[] above)
    {
        await using var command = source.CreateCommand("SELECT message_id FROM widget WHERE id >= $1");
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = above[0] });
        await using var rows = await command.ExecuteReaderAsync(CancellationToken.None);
        while (await rows.ReadAsync(CancellationToken.None))
            Tell(rows.GetGuid(0));
    }
}
