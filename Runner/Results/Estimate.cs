using MathNet.Numerics.Distributions;
using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results;

/// <summary>The mean of a few rounds and how far it can be trusted.</summary>
/// <param name="Mean">Arithmetic mean.</param>
/// <param name="HalfWidth">
/// Half of the 95 % confidence interval of the mean, t(0.975; n − 1) · s / √n with Student's t distribution ("Student", The Probable
/// Error of a Mean, Biometrika 6, 1908); <see langword="null"/> for one round, which tells nothing of spread.
/// </param>
/// <param name="Count">n, the rounds behind it.</param>
public sealed record Estimate(double Mean, double? HalfWidth, int Count)
{
    private const double UpperQuantile = 0.975;

    public double? Low => Mean - HalfWidth;

    public double? High => Mean + HalfWidth;

    /// <returns><see langword="null"/> for no figures.</returns>
    public static Estimate? Of(IReadOnlyCollection<double> figures) => figures.Count switch
    {
        0 => null,
        1 => new Estimate(figures.First(), null, 1),
        var count => new Estimate(
            figures.Mean(),
            StudentT.InvCDF(location: 0, scale: 1, freedom: count - 1, UpperQuantile) * figures.StandardDeviation() / Math.Sqrt(count),
            count),
    };
}
