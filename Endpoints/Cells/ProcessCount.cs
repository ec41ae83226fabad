using System.Globalization;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>The number of processes that receive from one queue in a round, each with the round's concurrency.</summary>
public sealed record ProcessCount(int Count)
{
    public static ProcessCount One { get; } = new(1);

    public static IReadOnlyList<ProcessCount> All { get; } = [One, new(2), new(4), new(8)];

    /// <summary>As names and documents have it.</summary>
    public string Name => string.Create(CultureInfo.InvariantCulture, $"{Count}-{(Count == 1 ? "process" : "processes")}");

    /// <summary>As an option has it, which says by itself what is counted.</summary>
    internal static string Typed(string name) => name.Split('-')[0];

    internal Support SupportOn(IEndpointKind kind) => this == One || kind.Transport is not TransportName.Learning
        ? this == One ? Support.Yes : kind.SupportsProcesses
        : Support.No($"several processes share a queue on a server, and '{kind.Transport}' has none");
}
