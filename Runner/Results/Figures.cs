using System.Globalization;

namespace Kit.Runner.Results;

/// <summary>
/// Numbers in the form of all reports, in any culture: a point before decimals, a comma between thousands, an en dash for
/// an unknown value.
/// </summary>
public static class Figures
{
    public const string None = "–";

    private const int MostDecimals = 6;

    /// <summary>A count in full.</summary>
    public static string Count(long count) => count.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>A count with its noun: <c>1 crash</c>, <c>2 crashes</c>.</summary>
    /// <param name="one">Noun for 1.</param>
    /// <param name="several">Noun for any other count; <see langword="null"/>: the noun for 1 with an s.</param>
    public static string Count(long count, string one, string? several = null) => $"{Count(count)} {(count == 1 ? one : several ?? $"{one}s")}";

    /// <summary>A whole number without separators, for names and file names.</summary>
    public static string Plain(int number) => number.ToString(CultureInfo.InvariantCulture);

    /// <summary>A measured figure with three significant digits, four from 1,000 on: more digits would suggest more precision than was measured.</summary>
    public static string Measured(double? figure)
    {
        if (figure is not { } value)
            return None;
        if (value == 0)
            return "0";

        var rounded = RoundedTo(value, Math.Abs(value) >= 1_000 ? 4 : 3);
        var decimals = Math.Clamp(2 - MagnitudeOf(rounded), 0, MostDecimals);
        return rounded.ToString($"N{Plain(decimals)}", CultureInfo.InvariantCulture);
    }

    /// <summary>A share, 0 to 1, as a percentage to a tenth. Only nothing is 0 %, and only all is 100 %.</summary>
    public static string Share(double share) => Math.Round(share * 100, 1) switch
    {
        0 when share > 0 => "< 0.1 %",
        100 when share < 1 => "> 99.9 %",
        var percent => percent.ToString("0.#", CultureInfo.InvariantCulture) + " %",
    };

    /// <summary>An upper bound of a share, 0 to 1, as a percentage to a tenth: rounded up, so that it is one.</summary>
    public static string ShareAtMost(double bound) => Share(Math.Ceiling(Math.Round(bound * 1_000, 6)) / 1_000);

    /// <summary>The day in UTC.</summary>
    public static string Day(DateTimeOffset moment) => moment.ToUniversalTime().ToString("yyyy-MM-dd", CultureInfo.InvariantCulture);

    public static string Moment(DateTimeOffset moment) =>
        moment.ToUniversalTime().ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);

    private static double RoundedTo(double value, int digits)
    {
        var unit = Math.Pow(10, MagnitudeOf(value) + 1 - digits);
        return Math.Round(value / unit) * unit;
    }

    private static int MagnitudeOf(double value) => (int)Math.Floor(Math.Log10(Math.Abs(value)));
}
