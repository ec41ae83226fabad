namespace Kit.Runner.Stage.Transports;

/// <summary>
/// The place of one round's queue: a database, virtual host or folder with nothing else in it, except the widgets if a mode needs them
/// there. It is removed when the round has ended.
/// </summary>
/// <param name="forRunner">Address for the runner's own queries.</param>
internal sealed class RoundTransport(string queue, string forEndpoint, string forRunner, Func<ValueTask> remove) : IAsyncDisposable
{
    /// <summary>The default name of a queue: each round and experiment has a place of its own.</summary>
    public const string QueueName = "widgets";

    /// <summary>The queue's name.</summary>
    public string Queue => queue;

    /// <summary>The transport's address for the endpoint.</summary>
    public string ForEndpoint => forEndpoint;

    /// <summary>The transport's address for the runner's own queries.</summary>
    public string ForRunner => forRunner;

    public ValueTask DisposeAsync() => remove();
}
