using Kit.Runner.Results;
using Kit.Runner.Results.Loads;

namespace Kit.Runner.Measuring;

/// <summary>
/// Searches for the highest rate that is sustained: doubles or halves the first one until one is sustained and one is not, then tries their geometric mean.
/// </summary>
internal static class RateSearch
{
    /// <summary>It ends when the lowest rate that was not sustained is at most this many times the highest that was.</summary>
    public const double Close = 1.1;

    /// <summary>The lowest rate that is given or searched, in messages a second. A share of a found one can be below it.</summary>
    public const double Lowest = 1;

    /// <summary>Tries of a rate at which only the sender was late, or the clock made a step: no fault of the endpoint.</summary>
    public const int MostTries = 3;

    /// <summary>No rate above this is tried, in messages a second.</summary>
    public const double Highest = 100_000;

    /// <summary>Tries one rate, and again if that shows nothing of the endpoint.</summary>
    /// <param name="limitMilliseconds">The highest p99 that counts as sustained.</param>
    /// <returns>True if it was sustained.</returns>
    public static async Task<bool> TryAsync(double? limitMilliseconds, Func<Task<LoadResult>> load)
    {
        for (var tries = 1; ; tries++)
        {
            var result = await load();
            if (result.ReasonsAgainst(limitMilliseconds).Count == 0)
                return true;
            if (tries == MostTries || result.WhyNothingIsShown(limitMilliseconds) is null)
                return false;
        }
    }

    /// <summary>
    /// The lowest rate that is tried, in messages a second: one that has the messages that a p99 needs. It is rounded up to a tenth: a
    /// <see cref="Schedule"/> has no part of a message.
    /// </summary>
    /// <param name="length">Duration of each rate.</param>
    public static double LowestFor(TimeSpan length) =>
        Math.Max(Lowest, Math.Ceiling(10 * Quantile.NeededFor(0.99) / length.TotalSeconds) / 10);

    /// <summary>The loads of one target: each shape, or the search that begins with its rate and the loads at shares of what it found.</summary>
    /// <param name="limitMilliseconds">In a search: the highest p99 that counts as sustained; <see langword="null"/>: nothing is searched.</param>
    /// <param name="shares">Fractions of the highest rate, 0 to 1.</param>
    /// <param name="load">Makes one load, at a share of the highest rate or not.</param>
    public static async Task LoadAsync(
        IReadOnlyList<LoadShape> shapes, TimeSpan length, double? limitMilliseconds, IReadOnlyList<double> shares,
        Func<LoadShape, double?, Task<LoadResult>> load)
    {
        foreach (var shape in shapes)
        {
            if (limitMilliseconds is null || shape is not OpenLoad first)
            {
                await load(shape, null);
                continue;
            }

            var found = await RunAsync(first.Rate, length, rate => TryAsync(limitMilliseconds, () => load(new OpenLoad(rate), null)));
            foreach (var share in found is null ? [] : shares)
                await load(new OpenLoad(Math.Round(share * found!.Value, 3)), share);
        }
    }

    /// <param name="first">The rate that is tried first, unless it has too few messages.</param>
    /// <param name="length">Duration of each rate.</param>
    /// <returns>The highest rate that was sustained; <see langword="null"/> if none was.</returns>
    public static async Task<double?> RunAsync(double first, TimeSpan length, Func<double, Task<bool>> isSustained)
    {
        double? sustained = null;
        double? tooHigh = null;
        var lowest = LowestFor(length);
        var rate = Math.Max(lowest, first);
        while (sustained is null || tooHigh is null)
        {
            if (await isSustained(rate))
                sustained = rate;
            else
                tooHigh = rate;
            if ((sustained is null && rate <= lowest) || (tooHigh is null && rate >= Highest))
                return sustained;
            rate = sustained is null ? Math.Max(lowest, rate / 2) : Math.Min(Highest, rate * 2);
        }

        while (tooHigh / sustained > Close)
        {
            rate = Math.Round(Math.Sqrt(sustained.Value * tooHigh.Value), 1);
            if (await isSustained(rate))
                sustained = rate;
            else
                tooHigh = rate;
        }

        return sustained;
    }
}
