namespace Kit.Runner.Rounds;

/// <summary>
/// Where the queue of one round is: the round's own database, virtual host or folder, and nothing else in it but the widgets where a mode needs
/// them there. Removed when the round has ended.
/// </summary>
/// <param name="queue">The queue's name.</param>
/// <param name="forEndpoint">The transport's address, as the endpoint gets it.</param>
/// <param name="forRunner">The same for the runner's own look at the queue.</param>
/// <param name="remove">Removes it.</param>
internal sealed class RoundTransport(string queue, string forEndpoint, string forRunner, Func<ValueTask> remove) : IAsyncDisposable
{
    /// <summary>What queues are called there, where nothing else is asked for: each round and experiment has a place of its own.</summary>
    public const string QueueName = "widgets";

    /// <summary>The queue's name.</summary>
    public string Queue => queue;

    /// <summary>The transport's address, as the endpoint gets it.</summary>
    public string ForEndpoint => forEndpoint;

    /// <summary>The same for the runner's own look at the queue.</summary>
    public string ForRunner => forRunner;

    public ValueTask DisposeAsync() => remove();
}
