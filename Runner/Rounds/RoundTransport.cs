using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds;

/// <summary>Where the queue of one round is, and nothing else is: the round's own database or virtual host. Removed when the round has ended.</summary>
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
        Cell cell, string queue, IRoundStore databases, RunBroker? broker, CancellationToken cancellationToken)
    {
        if (cell.Kind.Transport == TransportName.PostgreSql)
            return new RoundTransport(queue, databases.QueueForEndpoint, databases.QueueForRunner, space: null);
        // One connection string for queue and widgets, so that one session serves both; two where the transaction is to be promoted.
        if (cell.Kind.Transport == TransportName.SqlServer)
            return cell.Mode == TransactionMode.FullDtcPromoted
                ? new RoundTransport(queue, databases.QueueForEndpoint, databases.QueueForRunner, space: null)
                : new RoundTransport(queue, databases.WidgetsForEndpoint, databases.WidgetsForRunner, space: null);

        var own = await BrokerSpace.CreateAsync(broker!.Address, cancellationToken);
        return new RoundTransport(own.NameOf(queue), own.Address.Text, own.Address.Text, own);
    }

    public ValueTask DisposeAsync() => space?.DisposeAsync() ?? ValueTask.CompletedTask;
}
