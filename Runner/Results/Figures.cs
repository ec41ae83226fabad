using System.Globalization;

namespace Kit.Runner.Results;

/// <summary>
/// Numbers as every report writes them, whatever the culture: a point before decimals, a comma between thousands, an en dash for
/// what is not known.
/// </summary>
internal static class Figures
{
    public const string None = "–";

    /// <summary>A count in full.</summary>
    public static string Count(long count) => count.ToString("N0", CultureInfo.InvariantCulture);

    /// <summary>A whole number without separators, as names and file names have it.</summary>
    public static string Plain(int number) => number.ToString(CultureInfo.InvariantCulture);

    /// <summary>A measured figure with three significant digits, four from 1,000 on: more would claim more than was measured.</summary>
    public static string Measured(double? figure) => figure switch
    {
        null => None,
        0 => "0",
        { } value => Math.Abs(value) switch
        {
            >= 1000 => RoundedTo(value, 4).ToString("N0", CultureInfo.InvariantCulture),
            >= 99.95 => value.ToString("F0", CultureInfo.InvariantCulture),
            >= 9.995 => value.ToString("F1", CultureInfo.InvariantCulture),
            >= 0.9995 => value.ToString("F2", CultureInfo.InvariantCulture),
            _ => value.ToString("F3", CultureInfo.InvariantCulture),
        },
    };

    /// <summary>A part of a whole, 0 to 1, in percent.</summary>
    public static string Share(double share) => Measured(share * 100) + " %";

    public static string Moment(DateTimeOffset moment) =>
        moment.ToUniversalTime().ToString("yyyy-MM-dd HH:mm:ss 'UTC'", CultureInfo.InvariantCulture);

    private static double RoundedTo(double value, int digits)
    {
        var unit = Math.Pow(10, Math.Floor(Math.Log10(Math.Abs(value))) + 1 - digits);
        return Math.Round(value / unit) * unit;
    }
}
