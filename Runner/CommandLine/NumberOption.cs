using System.CommandLine;
using System.Globalization;

namespace Kit.Runner.CommandLine;

/// <summary>Options that take a number. Anything else, and a number out of bounds, is refused with the bounds.</summary>
internal static class NumberOption
{
    /// <summary>
    /// Each worker holds a connection to its queue and one to the widgets; a server allows 100 by default.
    /// </summary>
    public const int MostConcurrency = 40;

    public static Option<int?> Count(string name, string description, int least, int most = int.MaxValue) => new(name)
    {
        Description = description,
        HelpName = "n",
        CustomParser = result =>
        {
            var typed = result.Tokens[0].Value;
            if (int.TryParse(typed, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var count)
                && count >= least && count <= most)
            {
                return count;
            }

            result.AddError($"{name}: expected a whole number from {least} to {most}, found '{typed}'.");
            return null;
        },
    };

    /// <summary>A time from 1 s to 60 min, typed with its unit.</summary>
    public static Option<TimeSpan?> Time(string name, string description) => new(name)
    {
        Description = description,
        HelpName = "time",
        CustomParser = result =>
        {
            var typed = result.Tokens[0].Value;
            var (unit, seconds) = typed.EndsWith("min", StringComparison.Ordinal) ? ("min", 60) : ("s", 1);
            if (typed.EndsWith(unit, StringComparison.Ordinal)
                && double.TryParse(typed[..^unit.Length], NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number)
                && number * seconds is >= 1 and <= 3_600)
            {
                return TimeSpan.FromSeconds(number * seconds);
            }

            result.AddError($"{name}: expected a time from 1s to 60min with its unit, such as 10s or 2min, found '{typed}'.");
            return null;
        },
    };

    /// <summary>A share, typed as a percentage and returned as 0 to below 1.</summary>
    public static Option<double?> Percent(string name, string description) => new(name)
    {
        Description = description,
        HelpName = "percent",
        CustomParser = result =>
        {
            var typed = result.Tokens[0].Value;
            var number = typed.EndsWith('%') ? typed[..^1] : typed;
            const NumberStyles Styles = NumberStyles.AllowLeadingSign | NumberStyles.AllowDecimalPoint;
            if (double.TryParse(number, Styles, CultureInfo.InvariantCulture, out var percent)
                && percent is >= 0 and < 100)
            {
                return percent / 100;
            }

            result.AddError($"{name}: expected a percentage from 0 to below 100, such as 5 or 2.5, found '{typed}'.");
            return null;
        },
    };
}
