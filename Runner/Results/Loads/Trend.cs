using MathNet.Numerics.Distributions;

namespace Kit.Runner.Results.Loads;

/// <summary>The direction of a figure during a load.</summary>
public enum TrendVerdict
{
    /// <summary>The interval of the slope reaches neither side's margin.</summary>
    Level,

    /// <summary>The interval of the slope is above zero, and not within the margin.</summary>
    Grows,

    /// <summary>The interval of the slope is below zero, and not within the margin.</summary>
    Falls,

    /// <summary>Anything else: the figure varies too much for a verdict.</summary>
    NotDetermined,
}

/// <summary>The change of a figure during a load.</summary>
/// <param name="First">Mean over the first of the judged blocks.</param>
/// <param name="Last">Mean over the last of them.</param>
/// <param name="PerHour">Slope of the line through the blocks, per hour.</param>
/// <param name="Low">Lower end of the slope's 95 % interval.</param>
/// <remarks>
/// The first fifth is left out: pools fill and code is compiled. The rest is cut into eight blocks of the same length, and a line is fitted by least squares
/// through their means, with Student's t for six degrees of freedom. Neighbouring samples resemble each other (a heap grows until it is collected, dead rows
/// until they are vacuumed), so an interval over the samples themselves would be too narrow; means of blocks that are longer than such a cycle are nearly
/// independent (Conway, Some Tactical Problems in Digital Simulation, Management Science 10, 1963).
/// </remarks>
public sealed record Trend(double First, double Last, double PerHour, double Low, double High, TrendVerdict Verdict)
{
    /// <summary>A figure is level if it changes by less than this share of its mean in an hour.</summary>
    public const double Margin = 0.1;

    /// <summary>The shortest load whose trends are judged.</summary>
    public static readonly TimeSpan Shortest = TimeSpan.FromMinutes(10);

    private const int Blocks = 8;
    private const double LeftOut = 0.2;
    private const double UpperQuantile = 0.975;
    private const double Hour = 3_600;

    // The sums of equal numbers differ in their last digits.
    private const int Digits = 6;

    /// <param name="samples">Each value with its time, in s from the load's start; in any order.</param>
    /// <returns><see langword="null"/> if the load was shorter than <see cref="Shortest"/>, or a block has no sample.</returns>
    public static Trend? Of(IEnumerable<(double At, double Value)> samples, double seconds)
    {
        if (seconds < Shortest.TotalSeconds)
            return null;

        var (begin, length) = (seconds * LeftOut, seconds * (1 - LeftOut) / Blocks);
        var means = samples.Where(sample => sample.At >= begin && sample.At < seconds)
            .GroupBy(sample => (int)((sample.At - begin) / length))
            .ToDictionary(block => block.Key, block => block.Average(sample => sample.Value));
        return Enumerable.Range(0, Blocks).All(means.ContainsKey) ? Through([.. Enumerable.Range(0, Blocks).Select(block => means[block])], length) : null;
    }

    private static Trend Through(double[] means, double length)
    {
        var (middle, mean) = ((Blocks - 1) / 2.0, means.Average());
        var spread = Enumerable.Range(0, Blocks).Sum(block => (block - middle) * (block - middle));
        var slope = Enumerable.Range(0, Blocks).Sum(block => (block - middle) * (means[block] - mean)) / spread;
        var rest = Enumerable.Range(0, Blocks).Sum(block => Math.Pow(means[block] - mean - (slope * (block - middle)), 2));
        var error = Math.Sqrt(rest / (Blocks - 2) / spread);
        var half = StudentT.InvCDF(location: 0, scale: 1, freedom: Blocks - 2, UpperQuantile) * error;
        var (perHour, low, high) = (PerHour(slope), PerHour(slope - half), PerHour(slope + half));
        var margin = Margin * Math.Abs(mean);
        return new Trend(
            means[0],
            means[^1],
            perHour,
            low,
            high,
            (low, high) switch
            {
                _ when low >= -margin && high <= margin => TrendVerdict.Level,
                ( > 0, _) => TrendVerdict.Grows,
                (_, < 0) => TrendVerdict.Falls,
                ( <= 0, >= 0) => TrendVerdict.NotDetermined,
                _ => throw new ArgumentOutOfRangeException(nameof(means), $"{low} to {high}", "A slope's interval is two numbers."),
            });

        double PerHour(double perBlock) => Math.Round(perBlock / length * Hour, Digits);
    }
}
