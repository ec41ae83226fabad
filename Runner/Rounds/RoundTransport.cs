using Kit.Endpoints.Cells;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds;

/// <summary>Where the queue of one round is: the round's own database or virtual host, and nothing else in it but the widgets where a mode needs them there. Removed when the round has ended.</summary>
internal sealed class RoundTransport : IAsyncDisposable
{
    private readonly BrokerSpace? space;

    private RoundTransport(string queue, string forEndpoint, string forRunner, BrokerSpace? space)
    {
        Queue = queue;
        ForEndpoint = forEndpoint;
        ForRunner = forRunner;
        this.space = space;
    }

    /// <summary>The queue's name.</summary>
    public string Queue { get; }

    /// <summary>The transport's address, as the endpoint gets it.</summary>
    public string ForEndpoint { get; }

    /// <summary>The same for the runner's own look at the queue.</summary>
    public string ForRunner { get; }

    /// <param name="cell">What is to be measured.</param>
    /// <param name="queue">The queue's name, where it can have it.</param>
    /// <param name="databases">The round's databases.</param>
    /// <param name="broker">The run's broker; <see langword="null"/> where no cell needs one.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="HttpRequestException">The broker's management plugin failed.</exception>
    public static async Task<RoundTransport> OpenAsync(
        Cell cell, string queue, RoundDatabases databases, RunBroker? broker, CancellationToken cancellationToken)
    {
        if (cell.Kind.Transport == TransportName.PostgreSql)
        {
            var database = databases.QueueOf(cell.Mode);
            return new RoundTransport(queue, EndpointConnections.For(database), EndpointConnections.ForRunner(database), space: null);
        }

        var own = await BrokerSpace.CreateAsync(broker!.Address, cancellationToken);
        return new RoundTransport(own.NameOf(queue), own.Address.Text, own.Address.Text, own);
    }

    public ValueTask DisposeAsync() => space?.DisposeAsync() ?? ValueTask.CompletedTask;
}
