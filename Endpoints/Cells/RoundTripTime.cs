using System.Globalization;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>The distance of an endpoint from its servers in a round. The runner's own connections stay direct.</summary>
public sealed record RoundTripTime(string Name, string What)
{
    /// <summary>The default: nothing is in between.</summary>
    public static RoundTripTime Direct { get; } = new("direct", "the endpoint connects to its servers on this machine");

    public static IReadOnlyList<RoundTripTime> All { get; } = [Direct, Through(0), Through(2), Through(5), Through(10)];

    /// <summary>The time that the proxy adds to a round trip; <see langword="null"/>: there is no proxy.</summary>
    public TimeSpan? Added { get; private init; }

    internal Support SupportOn(IEndpointKind kind) => Added is null
        || kind.Transport is TransportName.PostgreSql or TransportName.PostgreSqlApart or TransportName.RabbitMq
        ? Support.Yes
        : Support.No($"the round-trip time '{Name}' needs the kit's proxy, which forwards to PostgreSQL and RabbitMQ");

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
