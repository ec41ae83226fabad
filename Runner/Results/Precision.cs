namespace Kit.Runner.Results;

/// <summary>The precision of the ratios of a run: the goal, and the result.</summary>
/// <param name="Goal">Largest distance between a ratio and the ends of its 95 % interval, as a share: 0.03 for 3 %.</param>
/// <param name="MostRounds">Number of rounds after which the run ends, even if the goal is not reached.</param>
/// <param name="Widest">Distance of the widest interval, as a share; <see langword="null"/> before the end, and if there is no ratio.</param>
/// <remarks>
/// The number of rounds depends on the rounds before. Such intervals miss the true ratio a little more often than their 95 % say, the more the
/// fewer the rounds (Chow and Robbins, On the Asymptotic Theory of Fixed-Width Sequential Confidence Intervals for the Mean, Annals of
/// Mathematical Statistics 36, 1965). So there is a least number of rounds.
/// </remarks>
public sealed record Precision(double Goal, int MostRounds, double? Widest)
{
    /// <summary>The least number of rounds, even if the first ones agree by chance.</summary>
    public const int LeastRounds = 8;

    /// <summary>True if the run may end after a round.</summary>
    /// <param name="round">The number of a round that every cell has finished.</param>
    /// <param name="widest">Distance of the widest interval after it.</param>
    public bool IsReached(int round, double? widest) => round >= LeastRounds && widest <= Goal;

    /// <summary>The precision in words, for a reader.</summary>
    public string Text(int rounds)
    {
        var goal = $"rounds were added until the 95 % interval of every measured ratio reached at most {Figures.Share(Goal)} from it";
        var state = Widest switch
        {
            null => "no ratio was measured",
            { } widest when widest <= Goal => $"reached after {Figures.Plain(rounds)} rounds: {Figures.Share(widest)}",
            { } widest => $"not reached in {Figures.Plain(rounds)} rounds: {Figures.Share(widest)}",
        };
        return $"{goal}; {state}. At least {Figures.Plain(LeastRounds)} rounds, at most {Figures.Plain(MostRounds)}. The number of rounds depended on " +
            "the data, so the intervals miss the true ratio a little more often than in 5 of 100 runs";
    }
}
