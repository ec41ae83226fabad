using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Servers;

namespace Kit.Runner.Comparing;

/// <summary>
/// The servers that both builds are run on: those that were named, or one of the kit's own each, started once. Two servers of one kind
/// can differ (where their files lie, what their caches hold); one that both use cannot, and nothing is started between two rounds.
/// </summary>
internal sealed class SharedServers : IAsyncDisposable
{
    private readonly PrivatePostgreSql? postgreSql;
    private readonly RunBroker? broker;
    private readonly string? named;

    private SharedServers(ComparePlan plan, PrivatePostgreSql? postgreSql, RunBroker? broker)
    {
        this.postgreSql = postgreSql;
        this.broker = broker;
        named = plan.PostgreSql;
        Variables = new Dictionary<string, string?>
        {
            [ConnectionStrings.PostgreSqlVariable] = plan.PostgreSql ?? postgreSql?.ConnectionString,
            [ConnectionStrings.RabbitMqVariable] = broker?.Address.Amqp.AbsoluteUri,
            [ConnectionStrings.RabbitMqManagementVariable] = broker?.Address.Management.AbsoluteUri,
            [ConnectionStrings.SqlServerVariable] = plan.SqlServer,
        };
    }

    /// <summary>What names them to a build; a variable is <see langword="null"/> where no cell needs its server.</summary>
    public IReadOnlyDictionary<string, string?> Variables { get; }

    /// <exception cref="KitException">A named server cannot be used, or one of the kit's own does not start.</exception>
    public static async Task<SharedServers> OpenAsync(ComparePlan plan, IRunDisplay display, CancellationToken cancellationToken)
    {
        PrivatePostgreSql? own = null;
        if (plan.PostgreSql is null && plan.Transports.Any(transport => transport != TransportName.SqlServer))
        {
            display.Note("Starting a PostgreSQL server of the kit's own, for both builds.");
            own = await PrivatePostgreSql.StartAsync(cancellationToken);
        }

        try
        {
            return new SharedServers(plan, own, await OpenBrokerAsync(plan, display, cancellationToken));
        }
        catch
        {
            await (own?.DisposeAsync() ?? ValueTask.CompletedTask);
            throw;
        }
    }

    // Where the kit can start none here, each build says so, and leaves its cells out.
    private static async Task<RunBroker?> OpenBrokerAsync(ComparePlan plan, IRunDisplay display, CancellationToken cancellationToken)
    {
        if (!plan.Transports.Contains(TransportName.RabbitMq) || (plan.RabbitMq is null && !PrivateRabbitMq.FindSupport().IsSupported))
            return null;
        if (plan.RabbitMq is null)
            display.Note("Starting a RabbitMQ broker of the kit's own, for both builds.");
        return await RunBroker.OpenAsync(plan.RabbitMq, cancellationToken);
    }

    /// <summary>Says in a side's facts whose servers they were: a build that is given one takes it for the user's.</summary>
    public IReadOnlyDictionary<string, string> Owned(IReadOnlyDictionary<string, string> facts, string key, string what)
    {
        var isOwn = what == "RabbitMQ" ? broker?.Processes is not null : postgreSql is not null;
        return isOwn && facts.ContainsKey(key)
            ? new Dictionary<string, string>(facts) { [key] = $"{what}, the kit's own, on this machine" }
            : facts;
    }

    public async ValueTask DisposeAsync()
    {
        if (broker is not null)
            await broker.DisposeAsync();
        if (postgreSql is not null)
            await postgreSql.DisposeAsync();
        else if (named is not null)
            // A build that had to be killed has left databases there.
            await DatabaseOwner.RemoveLeftoversAsync(named, CancellationToken.None);
    }
}
