using Kit.Runner.Rounds;
using Npgsql;

namespace Kit.Benchmarks.Waits;

/// <summary>Reads again and again what the active sessions of a round's databases wait for.</summary>
/// <param name="server">Connection string of the server.</param>
/// <param name="databases">Names of the round's databases.</param>
internal sealed class WaitSampler(string server, IReadOnlyList<string> databases)
{
    /// <summary>The shortest pause between two samples.</summary>
    public static readonly TimeSpan Interval = TimeSpan.FromMilliseconds(5);

    /// <summary>What an active session that waits for nothing is said to do: it has a processor, or is in the queue for one.</summary>
    public const string Running = "running";

    private const string Statement = $"""
        SELECT coalesce(wait_event_type || ': ' || wait_event, '{Running}'), count(*)::int FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND state = 'active' AND datname = ANY($1) GROUP BY 1
        """;

    /// <summary>Samples until it is cancelled.</summary>
    public async Task<WaitSamples> RunAsync(CancellationToken stop)
    {
        // Its own session is in the server's database, which is none of theirs.
        await using var connection = new NpgsqlConnection(EndpointConnections.ForRunner(server));
        await connection.OpenAsync(CancellationToken.None);
        await using var command = new NpgsqlCommand(Statement, connection) { Parameters = { new() { Value = databases.ToArray() } } };
        await command.PrepareAsync(CancellationToken.None);
        var samples = new WaitSamples();
        while (!stop.IsCancellationRequested)
        {
            samples.Taken++;
            await using (var reader = await command.ExecuteReaderAsync(CancellationToken.None))
            {
                while (await reader.ReadAsync(CancellationToken.None))
                    samples.Add(reader.GetString(0), reader.GetInt32(1));
            }

            await Task.Delay(Interval, CancellationToken.None);
        }

        return samples;
    }
}

/// <summary>How often which wait was seen.</summary>
internal sealed class WaitSamples
{
    private readonly Dictionary<string, int> sessions = [];

    public int Taken { get; set; }

    public IEnumerable<string> Waits => sessions.Keys;

    public void Add(string wait, int count) => sessions[wait] = sessions.GetValueOrDefault(wait) + count;

    public void Add(WaitSamples others)
    {
        Taken += others.Taken;
        foreach (var (wait, count) in others.sessions)
            Add(wait, count);
    }

    /// <summary>Sessions that were in this wait at a moment, on average.</summary>
    public double MeanOf(string wait) => Taken == 0 ? 0 : (double)sessions.GetValueOrDefault(wait) / Taken;
}
