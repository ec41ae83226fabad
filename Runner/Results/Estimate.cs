using MathNet.Numerics.Distributions;
using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results;

/// <summary>The mean of a few rounds' rates, with its confidence interval.</summary>
/// <param name="Factor">
/// The 95 % confidence interval of the mean is from <c>Mean / Factor</c> to <c>Mean · Factor</c>; <see langword="null"/> for one round,
/// which has no spread.
/// </param>
/// <param name="Count">n, the number of rounds.</param>
/// <remarks>
/// The interval is that of the mean's logarithm, ln x̄ ± t(0.975; n − 1) · s / (x̄ · √n), with Student's t distribution ("Student", The
/// Probable Error of a Mean, Biometrika 6, 1908) and the standard error of a logarithm by the delta method (Oehlert, A Note on the Delta
/// Method, The American Statistician 46, 1992). A rate is above zero, and so is this interval; x̄ ± t · s / √n reaches below zero if
/// few rounds are far apart. If they are close together, the two hardly differ.
/// </remarks>
public sealed record Estimate(double Mean, double? Factor, int Count)
{
    /// <summary>The coefficient of variation, s / x̄, with n − 1 in s; <see langword="null"/> for one round.</summary>
    public double? Variation { get; private init; }

    private const double UpperQuantile = 0.975;

    public double? Low => Mean / Factor;

    public double? High => Mean * Factor;

    /// <param name="rates">Each above zero.</param>
    /// <returns><see langword="null"/> for no rates.</returns>
    /// <exception cref="ArgumentOutOfRangeException">A rate is zero or less, which no counting round has.</exception>
    public static Estimate? Of(IReadOnlyCollection<double> rates)
    {
        foreach (var rate in rates)
            ArgumentOutOfRangeException.ThrowIfNegativeOrZero(rate, nameof(rates));

        return rates.Count switch
        {
            0 => null,
            1 => new Estimate(rates.First(), null, 1),
            _ => OfSeveral(rates),
        };
    }

    private static Estimate OfSeveral(IReadOnlyCollection<double> rates)
    {
        var (mean, count) = (rates.Mean(), rates.Count);
        var variation = rates.StandardDeviation() / mean;
        return new Estimate(
            mean, Math.Exp(StudentT.InvCDF(location: 0, scale: 1, freedom: count - 1, UpperQuantile) * variation / Math.Sqrt(count)), count)
        {
            Variation = variation,
        };
    }
}
