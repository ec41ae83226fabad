using MathNet.Numerics.Distributions;
using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results;

/// <summary>A rate as a multiple of a reference, with its uncertainty.</summary>
/// <param name="Log">Natural logarithm of the ratio.</param>
/// <param name="Error">
/// Standard error of <paramref name="Log"/>; <see langword="null"/> for one pair, which has no spread.
/// </param>
/// <param name="Freedom">Degrees of freedom of Student's t.</param>
/// <param name="Pairs">Pairs of rounds; for two runs, the rounds of the run with fewer.</param>
/// <remarks>
/// The rounds of a run are interleaved, so a slow hour affects both of a pair, and cancels out in their ratio; a slow minute does not, because a pair can be
/// minutes apart. For n pairs with
/// dᵢ = ln(rateᵢ / referenceᵢ) the ratio is exp(d̄), and the interval exp(d̄ ± t(1 − α/2; n − 1) · s / √n): the t-test for paired
/// samples ("Student", The Probable Error of a Mean, Biometrika 6, 1908), on logarithms, because rates differ by factors.
/// </remarks>
public sealed record RateRatio(double Log, double? Error, double Freedom, int Pairs)
{
    public double Value => Math.Exp(Log);

    /// <summary>The ratio and its 95 % interval, without a verdict.</summary>
    public string Text => $"{Figures.Measured(Value)} ({IntervalText})";

    /// <summary>The 95 % interval, or that there are too few pairs for one.</summary>
    public string IntervalText => Pairs < Comparison.EnoughRounds ? Comparison.TooFew : $"{IntervalAt(Comparison.Alpha)}";

    /// <param name="pairs">Rates of one round each, above zero.</param>
    /// <returns><see langword="null"/> for no pairs.</returns>
    /// <exception cref="ArgumentOutOfRangeException">A rate is zero or less, which no counting round has.</exception>
    public static RateRatio? OfPairs(IReadOnlyCollection<(double Rate, double Reference)> pairs)
    {
        foreach (var (rate, reference) in pairs)
            ArgumentOutOfRangeException.ThrowIfNegativeOrZero(Math.Min(rate, reference), nameof(pairs));

        var logs = pairs.Select(pair => Math.Log(pair.Rate / pair.Reference)).ToList();
        return logs.Count switch
        {
            0 => null,
            1 => new RateRatio(logs[0], Error: null, Freedom: 0, Pairs: 1),
            var count => new RateRatio(logs.Mean(), logs.StandardDeviation() / Math.Sqrt(count), count - 1, count),
        };
    }

    /// <summary>This ratio as a multiple of one that was measured independently, in another run.</summary>
    /// <remarks>
    /// The errors add up as those of independent means, with the degrees of freedom of Welch (The generalization of "Student's" problem
    /// when several different population variances are involved, Biometrika 34, 1947).
    /// </remarks>
    public RateRatio Over(RateRatio other)
    {
        var (log, pairs) = (Log - other.Log, Math.Min(Pairs, other.Pairs));
        if (Error is not { } mine || other.Error is not { } theirs)
            return new RateRatio(log, Error: null, Freedom: 0, pairs);

        var (left, right) = (mine * mine, theirs * theirs);
        var freedom = left + right == 0
            ? Math.Min(Freedom, other.Freedom)
            : (left + right) * (left + right) / ((left * left / Freedom) + (right * right / other.Freedom));
        return new RateRatio(log, Math.Sqrt(left + right), freedom, pairs);
    }

    /// <summary>The confidence interval that misses the ratio with a probability of <paramref name="alpha"/>.</summary>
    /// <returns><see langword="null"/> for one pair.</returns>
    public RatioInterval? IntervalAt(double alpha) => Error is not { } error
        ? null
        : Spread(StudentT.InvCDF(location: 0, scale: 1, Freedom, 1 - (alpha / 2)) * error);

    /// <summary>
    /// The smallest alpha whose interval lies outside a margin, on either side: the p-value of "the two differ by no more than the margin"
    /// (Hodges and Lehmann, Testing the Approximate Validity of Statistical Hypotheses, Journal of the Royal Statistical Society B 16,
    /// 1954).
    /// </summary>
    /// <returns>0 to 1; 1 for one pair.</returns>
    public double ProbabilityWithin(Margin margin) => (Math.Abs(Log) - margin.Log, Error) switch
    {
        ( <= 0, _) or (_, null) => 1,
        (_, 0) => 0,
        var (beyond, error) => 2 * StudentT.CDF(location: 0, scale: 1, Freedom, -beyond / error.Value),
    };

    private RatioInterval Spread(double half) => new(Math.Exp(Log - half), Math.Exp(Log + half));
}

/// <summary>The interval of a ratio.</summary>
public sealed record RatioInterval(double Low, double High)
{
    public override string ToString() => $"{Figures.Measured(Low)} to {Figures.Measured(High)}";
}

/// <summary>
/// The largest slowdown that is not called a difference. It is symmetric: if a cell is 3 % slower than its reference, the reference is faster by
/// the same factor, so that exchanging the two exchanges the verdict.
/// </summary>
/// <param name="Share">0 to 1: 0.03 for a ratio of 0.97 and its inverse, 1.031.</param>
public readonly record struct Margin(double Share)
{
    /// <summary>
    /// 3 %: the order of code in memory and the size of the environment alone change a program's speed by several percent (Mytkowicz and others,
    /// Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009).
    /// </summary>
    public static Margin Default { get; } = new(0.03);

    /// <summary>Half the width of the band around no difference, in logarithms.</summary>
    public double Log => -Math.Log(1 - Share);
}
