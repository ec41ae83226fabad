namespace Kit.Runner.Results;

/// <summary>An attempt at a round: one measured drain of a cell, or of a service.</summary>
public interface IRoundAttempt
{
    /// <summary>The number of the round, from 1.</summary>
    int Round { get; }

    /// <summary>The number of the attempt, from 1.</summary>
    int Attempt { get; }

    RoundOutcome Outcome { get; }

    Noise Noise { get; }

    Throughput Throughput { get; }
}

/// <summary>The rules by which attempts count.</summary>
public static class RoundAttempts
{
    /// <summary>For each round number, the valid attempt with the least noise. Every average is over these.</summary>
    public static IReadOnlyList<T> Counting<T>(IEnumerable<T> attempts)
        where T : IRoundAttempt =>
        [.. attempts.Where(round => round.Outcome.IsValid()).GroupBy(round => round.Round).Select(Quietest)];

    /// <summary>Messages per second over attempts that count; <see langword="null"/> if none does.</summary>
    public static Estimate? RateOf<T>(IEnumerable<T> counting)
        where T : IRoundAttempt =>
        Estimate.Of([.. counting.Select(round => round.Throughput.AveragePerSecond).OfType<double>()]);

    /// <summary>The noisy attempts that are repeated: each once.</summary>
    /// <param name="round">Tells the rounds apart.</param>
    public static IReadOnlyList<T> ToRepeat<T, TRound>(IEnumerable<T> attempts, Func<T, TRound> round)
        where T : IRoundAttempt =>
        [.. attempts.GroupBy(round).Where(same => same.Count() == 1).SelectMany(same => same).Where(attempt => attempt.Noise.IsNoisy())];

    private static T Quietest<T>(IEnumerable<T> attempts)
        where T : IRoundAttempt =>
        attempts.MinBy(round => round.Noise.Level())!;
}
