using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Runner.Servers;

/// <summary>
/// Where on a broker a run has its queues, and nothing of anybody else: a virtual host of its own, or, where it may make none, names that
/// begin with a prefix of its own. Disposing removes it.
/// </summary>
public sealed class BrokerSpace : IAsyncDisposable
{
    private const string NamePrefix = "kit-";

    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(10);

    private readonly BrokerAddress given;
    private readonly string name;
    private readonly HashSet<string> names = new(StringComparer.Ordinal);

    private BrokerSpace(BrokerAddress given, string name, string? note)
    {
        this.given = given;
        this.name = name;
        Note = note;
        Address = IsVirtualHost ? given.In(name) : given;
    }

    /// <summary>With the virtual host that the queues go to.</summary>
    public BrokerAddress Address { get; }

    /// <summary>What the user should know of it; <see langword="null"/>: nothing.</summary>
    public string? Note { get; }

    private bool IsVirtualHost => Note is null;

    /// <summary>Makes the space, once the virtual hosts of crashed runs are removed.</summary>
    /// <exception cref="HttpRequestException">The management plugin failed half-way.</exception>
    public static async Task<BrokerSpace> CreateAsync(BrokerAddress broker, CancellationToken cancellationToken)
    {
        var own = NamePrefix + Guid.NewGuid().ToString("N")[..12];
        using var management = new ManagementApi(broker);
        var absent = await management.WhyAbsentAsync(cancellationToken);
        if (absent is null && !await management.IsAdministratorAsync(cancellationToken))
            absent = $"{broker.UserName} is no administrator";
        if (absent is not null)
            return new BrokerSpace(
                broker, own,
                $"No virtual host of the kit's own ({absent}): queues are in {broker.VirtualHost}, their names begin with {own}. After a crash they stay.");

        foreach (var (leftover, description) in await management.ReadVirtualHostsAsync(cancellationToken))
        {
            if (leftover.StartsWith(NamePrefix, StringComparison.Ordinal) && OwnerMark.IsOfEndedProcess(description))
                await management.RemoveVirtualHostAsync(leftover, cancellationToken);
        }

        await management.CreateVirtualHostAsync(own, OwnerMark.Text, cancellationToken);
        return new BrokerSpace(broker, own, note: null);
    }

    /// <summary>The name that a queue, and an exchange of the same name, have here. Where there is no own virtual host, they are removed by it.</summary>
    public string NameOf(string queue)
    {
        var full = IsVirtualHost ? queue : $"{name}.{queue}";
        names.Add(full);
        return full;
    }

    /// <exception cref="HttpRequestException">The virtual host cannot be removed.</exception>
    /// <exception cref="BrokerUnreachableException">The queues cannot be removed.</exception>
    public async ValueTask DisposeAsync()
    {
        if (IsVirtualHost)
        {
            using var management = new ManagementApi(given);
            await management.RemoveVirtualHostAsync(name, CancellationToken.None);
        }
        else if (names.Count > 0)
        {
            await RemoveNamesAsync();
        }
    }

    private async Task RemoveNamesAsync()
    {
        await using var connection = await given.ConnectAsync("comparison kit, removal", Timeout, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        foreach (var own in names)
        {
            // Neither is an error where there is none of that name.
            await channel.QueueDeleteAsync(own);
            await channel.ExchangeDeleteAsync(own);
        }
    }
}
