using System.Globalization;

namespace Kit.Runner.Results;

/// <summary>A scale from zero.</summary>
/// <param name="Length">Pixels from zero to the largest value.</param>
public sealed record LinearScale(double Most, double Length)
{
    /// <summary>Free pixels between the texts of two marks.</summary>
    private const double LeastGap = 38;

    private static readonly IReadOnlyList<double> Steps = [1, 2, 5, 10];

    /// <summary>The marks after 0: 1, 2 or 5 times a power of ten apart.</summary>
    public IEnumerable<double> Ticks
    {
        get
        {
            if (Most <= 0)
                yield break;
            var step = StepFor(Most, Length / LeastGap);
            for (var count = 1; count * step <= Most; count++)
                yield return count * step;
        }
    }

    public static LinearScale Of(IEnumerable<double?> values, double length) => new(values.OfType<double>().DefaultIfEmpty(0).Max(), length);

    /// <summary>The smallest step, 1, 2 or 5 times a power of ten, of which so many reach the largest value.</summary>
    public static double StepFor(double most, double steps)
    {
        var decade = Math.Pow(10, Math.Floor(Math.Log10(most / steps)));
        return decade * Steps.First(step => most <= decade * step * steps);
    }

    /// <summary>The position of a value, in pixels.</summary>
    public double At(double? value) => Most <= 0 ? 0 : Length * (value ?? 0) / Most;

    /// <summary>A length in SVG's format.</summary>
    public static string Pixels(double position) => position.ToString("0.#", CultureInfo.InvariantCulture);

    /// <summary>The text of a mark.</summary>
    public static string Label(double tick) => tick.ToString("#,0.######", CultureInfo.InvariantCulture);
}
