using Kit.Runner.Results.Loads;
using Npgsql;

namespace Kit.Runner.Measuring;

/// <summary>The median latency of some messages whose effects came last, for whoever watches a load. No result contains it.</summary>
internal sealed class LiveLatency(ConfirmedSends sends, Effects effects)
{
    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(1);

    // Of the effects only some are shown, so the others would stay here for as long as the load.
    private const int MostKept = 100_000;

    private readonly Dictionary<Guid, DateTimeOffset> due = [];
    private int known;

    /// <summary>Reads the effects since the last call.</summary>
    /// <returns>In ms; <see langword="null"/>: fewer than two messages came, or the server does not tell in time.</returns>
    public async Task<double?> ReadAsync()
    {
        if (due.Count > MostKept)
            due.Clear();
        foreach (var one in sends.From(known))
        {
            due[one.Message] = one.Due;
            known++;
        }

        using var late = new CancellationTokenSource(Longest);
        try
        {
            var latest = await effects.ReadLatestAsync(late.Token);
            return Latency.Of(latest.SelectMany(LatencyOf))?.P50;
        }
        catch (Exception silent) when (silent is OperationCanceledException or NpgsqlException)
        {
            // The load goes on without this figure, and fails by itself if it must.
            return null;
        }
    }

    private IEnumerable<double> LatencyOf((Guid Message, DateTimeOffset Moment) effect)
    {
        if (due.Remove(effect.Message, out var moment))
            yield return (effect.Moment - moment).TotalMilliseconds;
    }
}
