using Kit.Endpoints.Cells;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds;

/// <summary>
/// Where the queue of one round is: the round's own database, virtual host or folder, and nothing else in it but the widgets where a mode needs
/// them there. Removed when the round has ended.
/// </summary>
internal sealed class RoundTransport : IAsyncDisposable
{
    private const string FolderPrefix = "kit-learning-";

    private readonly Func<ValueTask> remove;

    private RoundTransport(string queue, string forEndpoint, string forRunner, Func<ValueTask> remove)
    {
        Queue = queue;
        ForEndpoint = forEndpoint;
        ForRunner = forRunner;
        this.remove = remove;
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
    /// <param name="settings">With the run's broker, where a cell needs one.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="HttpRequestException">The broker's management plugin failed.</exception>
    /// <exception cref="KitException">No folder for temporary files can be made.</exception>
    public static async Task<RoundTransport> OpenAsync(
        Cell cell, string queue, IRoundStore databases, RoundSettings settings, CancellationToken cancellationToken) => cell.Kind.Transport switch
        {
            TransportName.Learning => await OpenFolderAsync(queue),
            TransportName.RabbitMq => await OpenSpaceAsync(queue, settings, cancellationToken),
            _ => new RoundTransport(queue, databases.QueueForEndpoint(cell.Mode), databases.QueueForRunner(cell.Mode), () => ValueTask.CompletedTask),
        };

    public ValueTask DisposeAsync() => remove();

    private static async Task<RoundTransport> OpenSpaceAsync(string queue, RoundSettings settings, CancellationToken cancellationToken)
    {
        var space = await BrokerSpace.CreateAsync(settings.Broker!.Address, cancellationToken);
        var address = new RabbitMqTransportSettings(space.Address, settings.QueueType).Text;
        return new RoundTransport(space.NameOf(queue), address, address, space.DisposeAsync);
    }

    /// <summary>In the folder for temporary files: the transport writes each message there before it moves it to its queue.</summary>
    private static async Task<RoundTransport> OpenFolderAsync(string queue)
    {
        foreach (var leftover in OwnedFolder.Leftovers(Path.GetTempPath(), FolderPrefix))
            await leftover.DeleteAsync();

        var folder = OwnedFolder.Create(Path.GetTempPath(), FolderPrefix, "Learning transport");
        return new RoundTransport(queue, folder.Server, folder.Server, async () => await folder.DeleteAsync());
    }
}
