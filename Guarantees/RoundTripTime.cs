using System.Globalization;

namespace Kit.Guarantees;

/// <summary>The distance of an endpoint, or of a user's service, from its servers. The kit's own connections stay direct.</summary>
public sealed record RoundTripTime(string Name, string What)
{
    /// <summary>The default: nothing is in between.</summary>
    public static RoundTripTime Direct { get; } = new("direct", "the endpoint connects to its servers on this machine");

    public static IReadOnlyList<RoundTripTime> All { get; } = [Direct, Through(0), Through(2), Through(5), Through(10)];

    /// <summary>The time that the proxy adds to a round trip; <see langword="null"/>: there is no proxy.</summary>
    public TimeSpan? Added { get; private init; }

    /// <summary>Its name, for a document; <see langword="null"/>: there is no proxy.</summary>
    public string? NameUnlessDirect => Added is null ? null : Name;

    private static RoundTripTime Through(int milliseconds)
    {
        var number = milliseconds.ToString(CultureInfo.InvariantCulture);
        return new RoundTripTime(
            $"{number}ms",
            milliseconds == 0
                ? "a proxy of the kit is in between and adds nothing: what the others are compared with"
                : $"a proxy of the kit is in between and adds {number} ms to every round trip")
        { Added = TimeSpan.FromMilliseconds(milliseconds) };
    }
}
