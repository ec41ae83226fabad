using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>The settings of an endpoint, the same for every framework and transport.</summary>
/// <param name="Transport">The transport's connection string.</param>
/// <param name="Widgets">The connection string of the widgets' database.</param>
/// <param name="Concurrency">How many messages are handled at the same time.</param>
public sealed record EndpointSettings(
    string Queue,
    string Transport,
    string Widgets,
    TransactionMode Mode,
    int Concurrency)
{
    /// <summary>The commits that wait for the database's log.</summary>
    public LogFlush Flush { get; init; } = LogFlush.Every;

    /// <summary>The messages that are received at once.</summary>
    public int BatchSize { get; init; } = 1;

    /// <summary>A commit also receives the next message.</summary>
    public bool ReceivesAhead { get; init; }

    /// <inheritdoc cref="Cell.DeadLettersNext"/>
    public bool DeadLettersNext { get; init; }

    /// <inheritdoc cref="Cell.PollsOften"/>
    public bool PollsOften { get; init; }

    /// <summary>How long the ambient transaction around a handler may last, in the modes that have one.</summary>
    public TimeSpan TransactionTimeout { get; init; } = Modes.TransactionTimeout.Default;
}
