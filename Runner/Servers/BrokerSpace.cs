using Kit.Endpoints.Bare.RabbitMq;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Runner.Servers;

/// <summary>
/// The place of a run's queues on a broker, separate from all others: a virtual host of its own or, if it may not create one, names with a
/// prefix of its own. Disposing removes it.
/// </summary>
public sealed class BrokerSpace : IAsyncDisposable
{
    private const string NamePrefix = "kit-";

    private readonly RabbitMqAddress given;
    private readonly string name;
    private readonly bool isVirtualHost;

    private BrokerSpace(RabbitMqAddress given, string name, bool isVirtualHost) =>
        (this.given, this.name, this.isVirtualHost, Address) = (given, name, isVirtualHost, isVirtualHost ? given.In(name) : given);

    /// <summary>The broker's address with the virtual host of the queues.</summary>
    public RabbitMqAddress Address { get; }

    /// <summary>Creates the space. A cancellation waits for it: the broker comes to the end of a request that was cancelled, after the removal.</summary>
    /// <exception cref="HttpRequestException">The management plugin failed half-way.</exception>
    public static async Task<BrokerSpace> CreateAsync(RabbitMqAddress broker, CancellationToken cancellationToken)
    {
        var own = NamePrefix + Guid.NewGuid().ToString("N")[..12];
        using var management = new ManagementApi(broker);
        if (!await management.IsAdministratorAsync(cancellationToken))
            return new BrokerSpace(broker, own, isVirtualHost: false);

        try
        {
            await management.CreateVirtualHostAsync(own, OwnerMark.Text, CancellationToken.None);
            cancellationToken.ThrowIfCancellationRequested();
            return new BrokerSpace(broker, own, isVirtualHost: true);
        }
        catch
        {
            await TryRemoveAsync(management, own, CancellationToken.None);
            throw;
        }
    }

    /// <summary>Removes the virtual hosts that crashed runs left on a broker, as far as it does it.</summary>
    /// <exception cref="HttpRequestException">The management plugin does not answer, or refuses.</exception>
    internal static async Task<IReadOnlyList<Leftover>> RemoveLeftoversAsync(RabbitMqAddress broker, CancellationToken cancellationToken)
    {
        using var management = new ManagementApi(broker);
        if (!await management.IsAdministratorAsync(cancellationToken))
            return [];

        var leftovers = new List<Leftover>();
        foreach (var (host, description) in await management.ReadVirtualHostsAsync(cancellationToken))
        {
            if (host.StartsWith(NamePrefix, StringComparison.Ordinal) && OwnerMark.IsOfEndedProcess(description))
            {
                leftovers.Add(new Leftover(host, await TryRemoveAsync(management, host, cancellationToken) is { } because
                    ? $"The virtual host {host}, left by a crashed run, is still there: {because} The next start tries again."
                    : null));
            }
        }

        return leftovers;
    }

    /// <summary>The name of a queue here. Without a virtual host of its own, the run's queues and exchanges are removed by their prefix.</summary>
    public string NameOf(string queue) => isVirtualHost ? queue : $"{name}.{queue}";

    /// <summary>Removes its virtual host, if the broker does it now.</summary>
    /// <returns>A sentence that says why it is still there; <see langword="null"/>: it is not.</returns>
    /// <exception cref="InvalidOperationException">It has none.</exception>
    public async Task<string?> TryRemoveAsync()
    {
        if (!isVirtualHost)
            throw new InvalidOperationException("The queues have no virtual host of their own.");

        using var management = new ManagementApi(given);
        return await TryRemoveAsync(management, name, CancellationToken.None);
    }

    /// <exception cref="HttpRequestException">The virtual host cannot be removed.</exception>
    /// <exception cref="BrokerUnreachableException">The queues cannot be removed.</exception>
    public async ValueTask DisposeAsync()
    {
        using var management = new ManagementApi(given);
        if (isVirtualHost)
            await management.RemoveVirtualHostAsync(name, CancellationToken.None);
        else
            await RemoveNamesAsync(management);
    }

    private static async Task<string?> TryRemoveAsync(ManagementApi management, string host, CancellationToken cancellationToken)
    {
        try
        {
            await management.RemoveVirtualHostAsync(host, cancellationToken);
            return null;
        }
        catch (Exception failure) when (
            failure is HttpRequestException || (failure is OperationCanceledException && !cancellationToken.IsCancellationRequested))
        {
            return $"{failure.Message.TrimEnd('.')}.";
        }
    }

    private async Task RemoveNamesAsync(ManagementApi management)
    {
        await using var connection = await given.ConnectAsync("comparison kit, removal", RabbitMqFacts.Timeout, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        // Deleting one that does not exist is no error.
        foreach (var queue in await ReadOwnAsync(management, "queues"))
            await channel.QueueDeleteAsync(queue);
        foreach (var exchange in await ReadOwnAsync(management, "exchanges"))
            await channel.ExchangeDeleteAsync(exchange);
    }

    private async Task<IEnumerable<string>> ReadOwnAsync(ManagementApi management, string kind)
    {
        var all = await management.ReadNamesAsync(kind, CancellationToken.None);
        return all.Where(found => found.StartsWith(name, StringComparison.Ordinal));
    }
}
