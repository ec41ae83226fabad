using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Npgsql;

namespace Kit.Runner.Faults.Testbeds;

/// <summary>Reads, after each kill and before the next process starts, the transactions that the kill left open in the kit's two-phase commit.</summary>
internal sealed class WindowsWatch(NpgsqlDataSource server, string journal, IReadOnlyList<string> databases)
{
    /// <summary>The endpoint's sessions end when the server notices that their client has ended.</summary>
    private const string Query =
        """
        SELECT (SELECT count(*) FROM pg_stat_activity WHERE datname = ANY($1) AND starts_with(application_name, 'kit endpoint')),
               count(*) FILTER (WHERE decision = 'committed'), count(*) FILTER (WHERE decision <> 'committed')
        FROM (SELECT pg_xact_status(split_part(gid, '/', 4)::xid8) AS decision FROM pg_prepared_xacts WHERE database = ANY($1) AND starts_with(gid, 'kit/'))
             AS branch
        """;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(5);

    public WindowsMet Met { get; private set; } = WindowsMet.None;

    /// <summary>Adds the transactions that the last kill left open.</summary>
    public async Task LookAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            await using var command = server.CreateCommand(Query);
            command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. databases] });
            await using var reader = await command.ExecuteReaderAsync(cancellationToken);
            await reader.ReadAsync(cancellationToken);
            if (reader.GetInt64(0) == 0)
            {
                Met = Met.With(IsAHandlerOpen(), isPrepared: reader.GetInt64(2) > 0, isDecided: reader.GetInt64(1) > 0);
                return;
            }

            await Task.Delay(Pause, cancellationToken);
        }
    }

    private bool IsAHandlerOpen() => AttemptJournal.ReadEnd(journal)
        .GroupBy(line => line.AttemptId)
        .Any(attempt => attempt.Any(line => line.Point is AttemptPoint.Started) && attempt.All(line => line.Point is not AttemptPoint.Returned));
}
