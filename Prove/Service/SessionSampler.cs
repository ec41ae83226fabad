using System.Diagnostics;
using Kit.Runner.Results.Drains;
using Npgsql;

namespace Kit.Prove.Service;

/// <summary>Looks fifty times a second at what the sessions of a service do, from a session in another database.</summary>
internal sealed class SessionSampler : IAsyncDisposable
{
    private const string Look =
        """
        SELECT CASE WHEN state <> 'active' THEN 'in a transaction, waits for the service'
                    WHEN wait_event IS NULL THEN 'executes' ELSE wait_event_type || ': ' || wait_event END, count(*)
        FROM pg_stat_activity
        WHERE datname = ANY($1) AND backend_type = 'client backend' AND application_name <> $2 AND state <> 'idle'
        GROUP BY 1
        """;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    private readonly NpgsqlConnection server;
    private readonly string own;
    private readonly string[] databases;
    private readonly CancellationTokenSource stopped = new();
    private readonly Stopwatch watch = Stopwatch.StartNew();
    private readonly Dictionary<string, long> seen = [];
    private readonly Task sampling;
    private int samples;

    private SessionSampler(NpgsqlConnection server, string own, string[] databases)
    {
        (this.server, this.own, this.databases) = (server, own, databases);
        sampling = SampleAsync();
    }

    /// <param name="own">The name of the kit's own sessions, which are left out.</param>
    /// <exception cref="NpgsqlException">The server cannot be asked.</exception>
    public static async Task<SessionSampler> StartAsync(string server, string own, string[] databases, CancellationToken cancellationToken)
    {
        var connection = new NpgsqlConnection(server);
        await connection.OpenAsync(cancellationToken);
        return new SessionSampler(connection, own, databases);
    }

    /// <summary>Ends it.</summary>
    /// <returns>How long the sessions were in each state, for each message; the longest first.</returns>
    /// <exception cref="NpgsqlException">The server could not be asked.</exception>
    public async Task<IReadOnlyList<SampledState>> StopAsync(int messages)
    {
        await stopped.CancelAsync();
        await sampling;
        // Each sample stands for the time until the next.
        var each = watch.Elapsed.TotalMilliseconds / Math.Max(1, samples);
        return
        [
            .. from state in seen
               orderby state.Value descending, state.Key
               select new SampledState(state.Key, state.Value * each / messages),
        ];
    }

    public async ValueTask DisposeAsync()
    {
        await stopped.CancelAsync();
        await sampling.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await server.DisposeAsync();
        stopped.Dispose();
    }

    private async Task SampleAsync()
    {
        try
        {
            while (true)
            {
                await using var look = new NpgsqlCommand(Look, server);
                look.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = databases });
                look.Parameters.Add(new NpgsqlParameter<string> { TypedValue = own });
                await using (var reader = await look.ExecuteReaderAsync(stopped.Token))
                {
                    while (await reader.ReadAsync(stopped.Token))
                        seen[reader.GetString(0)] = seen.GetValueOrDefault(reader.GetString(0)) + reader.GetInt64(1);
                }

                samples++;
                await Task.Delay(Pause, stopped.Token);
            }
        }
        catch (OperationCanceledException) when (stopped.IsCancellationRequested)
        {
            watch.Stop();
        }
    }
}
