using System.CommandLine;
using Kit.Guarantees;
using Kit.Runner.Terminal;

namespace Kit.Prove.Commands;

/// <summary><c>--rtt</c>: the distance of a measured service from the kit's servers.</summary>
internal static class DistanceOption
{
    public static Option<string?> Create() => NamesOption.One(
        "--rtt",
        "Let the kit's proxy add this time, in milliseconds, to each round trip between your service and its servers, as if they were in another zone, " +
        $"such as 2ms ({RoundTripTime.Direct.Name}: no proxy). The kit itself is not delayed, nor are calls.",
        [.. RoundTripTime.All.Select(trip => trip.Name)]);

    public static RoundTripTime Of(string? typed) => RoundTripTime.All.Single(trip => trip.Name == (typed ?? RoundTripTime.Direct.Name));
}
