using Kit.Endpoints.Bare.Health;
using Kit.Modes;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>An endpoint in <c>full-dtc</c>, whoever receives its messages.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Mode">Its mode, as refusals name it.</param>
/// <param name="Concurrency">The number of messages that it handles at a time.</param>
/// <param name="Transactions">The settings of the ambient transactions and the branches.</param>
/// <param name="RecoveryInterval">How often it looks for branches that were left prepared.</param>
/// <param name="Log">Its log.</param>
internal sealed record TwoPhaseEndpoint(
    string Name, TransactionMode Mode, int Concurrency, TransactionSettings Transactions, TimeSpan RecoveryInterval, ILogger Log)
{
    /// <summary>Whether a server may send its log to standbys that it does not wait for.</summary>
    public required bool AcceptsAsynchronousStandbys { get; init; }

    /// <summary>How its user accepts that, as a refusal says it.</summary>
    public required string HowToAccept { get; init; }

    /// <summary>What it reports about itself.</summary>
    public required EndpointStatus Status { get; init; }

    /// <summary>Repeats some work at an interval until the endpoint stops.</summary>
    public required Action<TimeSpan, Func<CancellationToken, Task>> Repeat { get; init; }

    /// <summary>Ends something when no message is handled any more; what was added last is ended first.</summary>
    public required Action<IAsyncDisposable> EndAfterWorkers { get; init; }

    /// <summary>Cancelled when the endpoint stops receiving.</summary>
    public CancellationToken Stopping { get; init; }
}
