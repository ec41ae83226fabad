namespace Kit.Runner.Results;

/// <summary>How narrow the ratios of a run were to become, and how narrow they are.</summary>
/// <param name="Goal">How far the 95 % interval of every ratio may reach from the ratio, as a share: 0.03 for 3 %.</param>
/// <param name="MostRounds">After so many rounds the run ends, even if the goal is not reached.</param>
/// <param name="Widest">How far the widest interval reaches, as a share; <see langword="null"/> before the end, and if there is no ratio.</param>
/// <remarks>
/// The number of rounds depends on the rounds before. Such intervals miss the true ratio a little more often than their 95 % say, the more the
/// fewer the rounds (Chow and Robbins, On the Asymptotic Theory of Fixed-Width Sequential Confidence Intervals for the Mean, Annals of
/// Mathematical Statistics 36, 1965). So there is a least number of rounds.
/// </remarks>
public sealed record Precision(double Goal, int MostRounds, double? Widest)
{
    /// <summary>A run makes at least so many rounds, even if its first ones agree by chance.</summary>
    public const int LeastRounds = 8;

    /// <summary>Whether the run may end after a round.</summary>
    /// <param name="round">The number of a round that every cell has finished.</param>
    /// <param name="widest">How far the widest interval reaches after it.</param>
    public bool IsReached(int round, double? widest) => round >= LeastRounds && widest <= Goal;

    /// <summary>For a reader.</summary>
    /// <param name="rounds">The number of rounds that were made.</param>
    public string Text(int rounds)
    {
        var goal = $"rounds were added until the 95 % interval of every ratio reached at most {Figures.Share(Goal)} from it";
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
