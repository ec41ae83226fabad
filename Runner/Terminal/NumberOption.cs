using System.CommandLine;
using System.Globalization;

namespace Kit.Runner.Terminal;

/// <summary>Options that take a number. Anything else, and a number out of bounds, is refused with the bounds.</summary>
internal static class NumberOption
{
    private static readonly (string Unit, TimeSpan Length)[] Units =
    [
        ("ms", TimeSpan.FromMilliseconds(1)), ("s", TimeSpan.FromSeconds(1)), ("min", TimeSpan.FromMinutes(1)), ("m", TimeSpan.FromMinutes(1)),
        ("h", TimeSpan.FromHours(1)),
    ];

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

    /// <summary>Numbers, separated by commas or spaces. Each is returned once, in the order in which they were typed.</summary>
    public static Option<int[]> Counts(string name, string description, int least, int most) => new(name)
    {
        Description = description,
        HelpName = "n,…",
        AllowMultipleArgumentsPerToken = true,
        CustomParser = result =>
        {
            var typed = result.Tokens
                .SelectMany(token => token.Value.Split(',', StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries)).ToList();
            if (typed.Count == 0)
                result.AddError($"{name}: no number. Expected whole numbers from {least} to {most}, separated by commas.");
            var numbers = new List<int>();
            foreach (var one in typed)
            {
                if (int.TryParse(one, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var number) && number >= least && number <= most)
                    numbers.Add(number);
                else
                    result.AddError($"{name}: expected whole numbers from {least} to {most}, separated by commas, found '{one}'.");
            }

            return [.. numbers.Distinct()];
        },
    };

    /// <summary>A time, typed with its unit: <c>500ms</c>, <c>10s</c>, <c>2min</c> or <c>2m</c>, or <c>8h</c>.</summary>
    public static Option<TimeSpan?> Time(string name, string description, TimeSpan least, TimeSpan most) => new(name)
    {
        Description = description,
        HelpName = "time",
        CustomParser = result =>
        {
            var typed = result.Tokens[0].Value;
            if (TimeOf(typed) is { } time && time >= least && time <= most)
                return time;

            result.AddError($"{name}: expected a time from {TextOf(least)} to {TextOf(most)} with its unit, such as 10s or 2min, found '{typed}'.");
            return null;
        },
    };

    /// <summary>From one time to a later one: <c>30s..60s</c>.</summary>
    public static Option<(TimeSpan From, TimeSpan To)?> Range(string name, string description, TimeSpan least, TimeSpan most) => new(name)
    {
        Description = description,
        HelpName = "time..time",
        CustomParser = result =>
        {
            var typed = result.Tokens[0].Value;
            if (typed.Split("..") is [var first, var second] && TimeOf(first) is { } from && TimeOf(second) is { } to
                && least <= from && from < to && to <= most)
                return (from, to);

            result.AddError(
                $"{name}: expected two times from {TextOf(least)} to {TextOf(most)} with their units, the earlier first, such as 30s..60s, found '{typed}'.");
            return null;
        },
    };

    /// <summary>Messages a second: <c>500/s</c> or <c>500</c>.</summary>
    public static Option<double?> Rate(string name, string description, double least, double most) => new(name)
    {
        Description = description,
        HelpName = "n/s",
        CustomParser = result =>
        {
            var typed = result.Tokens[0].Value;
            var number = typed.EndsWith("/s", StringComparison.Ordinal) ? typed[..^2] : typed;
            if (NumberOf(number) is { } rate && rate >= least && rate <= most)
                return rate;

            result.AddError(string.Create(
                CultureInfo.InvariantCulture, $"{name}: expected messages a second from {least} to {most}, such as 500/s, found '{typed}'."));
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

    // The longest unit first: 500ms ends with s, too.
    private static TimeSpan? TimeOf(string typed)
    {
        foreach (var (unit, length) in Units)
        {
            if (typed.EndsWith(unit, StringComparison.Ordinal))
                return NumberOf(typed[..^unit.Length]) is { } number && number < TimeSpan.MaxValue / length ? number * length : null;
        }

        return null;
    }

    private static string TextOf(TimeSpan time)
    {
        var (unit, length) = time == TimeSpan.Zero
            ? Units.Single(unit => unit.Length == TimeSpan.FromSeconds(1))
            : Units.Where(unit => time.Ticks % unit.Length.Ticks == 0).MaxBy(unit => unit.Length);
        return string.Create(CultureInfo.InvariantCulture, $"{time / length}{unit}");
    }

    private static double? NumberOf(string typed) =>
        double.TryParse(typed, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number) && double.IsFinite(number) ? number : null;
}
