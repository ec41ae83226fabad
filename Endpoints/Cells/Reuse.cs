using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Cells;

/// <summary>A choice of what is built once for all messages of a handler, and what for each of them.</summary>
public sealed record Reuse(string Name, string What)
{
    public static Reuse Static { get; } = new("static", "the handler and its service provider are built once, and its connections come from a pool");

    /// <summary>Nothing is kept from one message to the next.</summary>
    public static Reuse Dynamic { get; } = new(
        "dynamic", "the handler and its service provider are built for each message, and its connection is a new session of the server");

    public static IReadOnlyList<Reuse> All { get; } = [Static, Dynamic];

    /// <summary>The connection string of the handlers: with a pool, or without.</summary>
    internal string ConnectionOf(string widgets) =>
        this == Static ? widgets : new NpgsqlConnectionStringBuilder(widgets) { Pooling = false }.ConnectionString;

    internal Support SupportOf(IEndpointKind kind, TransactionMode mode) =>
        this == Static ? Support.Yes
        : !kind.HasSettings ? Support.No($"what {kind.Framework} builds once is its own; --reuse is for bare endpoints")
        : mode.NeedsOneDatabase ? Support.No($"in {mode} a handler works on the connection of the receive, which the endpoint keeps")
        : Support.Yes;
}
