using Kit.Handlers;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Loads;
using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Runner.Loads;

/// <summary>The rows that handlers insert.</summary>
/// <remarks>
/// The ids of rows contain the time at which the handler made them. So the question reads, in the primary key's index, only the rows that are not older
/// than the oldest awaited message, and needs no index on the message's id, which would make each insert more expensive.
/// </remarks>
/// <param name="widgets">Connection string of the widgets' database.</param>
internal sealed class CommittedRows(string widgets) : CommittedEffects
{
    // The commit of a seeded row is not known any more when VACUUM has frozen it.
    private static readonly string Latest =
        $"""
        SELECT message_id, committed
        FROM (SELECT message_id, pg_xact_commit_timestamp(xmin) AS committed FROM widget ORDER BY id DESC LIMIT {MostLatest}) AS latest
        WHERE committed IS NOT NULL
        """;

    // A clock that was set back a little makes no row invisible.
    private static readonly TimeSpan Slack = TimeSpan.FromMilliseconds(50);

    private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(EndpointConnections.ForNewestRows(widgets));

    public override EffectClock Clock => EffectClock.RowCommit;

    public override Task<IReadOnlyDictionary<Guid, DateTimeOffset>> EndAsync(
        IEnumerable<(Guid Message, DateTimeOffset Committed)> rows, TimeSpan serverAhead, CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyDictionary<Guid, DateTimeOffset>>(rows
            .GroupBy(row => row.Message)
            .ToDictionary(same => same.Key, same => same.Min(row => row.Committed) - serverAhead));

    public override async Task<IReadOnlyList<(Guid Message, DateTimeOffset Moment)>> ReadLatestAsync(CancellationToken cancellationToken)
    {
        var latest = new List<(Guid, DateTimeOffset)>();
        await using var command = source.CreateCommand(Latest);
        await using var rows = await command.ExecuteReaderAsync(cancellationToken);
        while (await rows.ReadAsync(cancellationToken))
            latest.Add((rows.GetGuid(0), rows.GetFieldValue<DateTimeOffset>(1)));
        return latest;
    }

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
