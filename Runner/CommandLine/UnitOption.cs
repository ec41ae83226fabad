using System.CommandLine;
using System.Globalization;

namespace Kit.Runner.CommandLine;

/// <summary>Options that take a number with its unit. Anything else is refused with examples.</summary>
internal static class UnitOption
{
    private static readonly (string Unit, TimeSpan Length)[] Units =
    [
        ("ms", TimeSpan.FromMilliseconds(1)), ("s", TimeSpan.FromSeconds(1)), ("m", TimeSpan.FromMinutes(1)), ("h", TimeSpan.FromHours(1)),
    ];

    /// <summary>A length of time: <c>500ms</c>, <c>60s</c>, <c>5m</c>, <c>2h</c>.</summary>
    /// <param name="name">As it is typed.</param>
    /// <param name="description">For the help.</param>
    /// <param name="least">The shortest that is allowed.</param>
    public static Option<TimeSpan?> Time(string name, string description, TimeSpan least) => new(name)
    {
        Description = description,
        HelpName = "time",
        CustomParser = result =>
        {
            var typed = result.Tokens[0].Value;
            if (TimeOf(typed) is { } time && time >= least)
                return time;

            result.AddError($"{name}: expected a time of at least {least.TotalSeconds.ToString(CultureInfo.InvariantCulture)}s, such as 60s or 5m, found '{typed}'.");
            return null;
        },
    };

    /// <summary>Messages a second: <c>500/s</c> or <c>500</c>.</summary>
    /// <param name="name">As it is typed.</param>
    /// <param name="description">For the help.</param>
    /// <param name="least">The lowest that is allowed.</param>
    /// <param name="most">The highest that is allowed.</param>
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

    private static TimeSpan? TimeOf(string typed)
    {
        // The longest unit first: 500ms also ends with s.
        foreach (var (unit, length) in Units)
        {
            if (typed.EndsWith(unit, StringComparison.Ordinal) && NumberOf(typed[..^unit.Length]) is { } number && number < TimeSpan.MaxValue / length)
                return number * length;
        }

        return null;
    }

    private static double? NumberOf(string typed) =>
        double.TryParse(typed, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number) && double.IsFinite(number) ? number : null;
}
