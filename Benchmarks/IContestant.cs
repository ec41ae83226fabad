using Kit.Endpoints.Bare;

namespace Kit.Benchmarks;

/// <summary>A program that drains the queue in one round.</summary>
internal interface IContestant : IAsyncDisposable
{
    string QueueName { get; }

    /// <summary>Connection string of the database that holds the queue.</summary>
    string QueueDatabase { get; }

    /// <summary>Messages per second as it reports them for the last drain; <see langword="null"/> if it does not.</summary>
    double? OwnPerSecond { get; }

    /// <exception cref="Kit.Runner.Results.KitException">The drain failed or stalled.</exception>
    Task DrainAsync(int messages, IMessageQueue queue, CancellationToken cancellationToken);
}
