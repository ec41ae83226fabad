using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Prove.Service;

/// <summary>The kit's own servers for an application. Disposing stops and removes them.</summary>
internal sealed class ProofServers : IAsyncDisposable
{
    private ProofServers(PrivatePostgreSql? postgreSql, PrivateRabbitMq? rabbitMq) => (PostgreSql, RabbitMq) = (postgreSql, rabbitMq);

    /// <summary><see langword="null"/>: the application needs none.</summary>
    public PrivatePostgreSql? PostgreSql { get; }

    /// <inheritdoc cref="PostgreSql"/>
    public PrivateRabbitMq? RabbitMq { get; }

    /// <summary>The servers' versions, by name.</summary>
    public IReadOnlyDictionary<string, string> Versions => new (string Name, Version? Version)[]
    {
        (Placeholders.PostgreSql, PostgreSql?.Version), (Placeholders.Broker, RabbitMq?.Version),
    }.Where(server => server.Version is not null).ToDictionary(server => server.Name, server => $"{server.Version}");

    /// <exception cref="KitException">One of them is not installed, or does not start.</exception>
    public static async Task<ProofServers> StartAsync(ProofFile file, CancellationToken cancellationToken)
    {
        if (file.NeedsBroker && PrivateRabbitMq.FindSupport() is { Because: { } because })
            throw new KitException($"The proof needs a RabbitMQ broker of its own: {because}.", "Install it with the command 'install'.");

        if (file.NeedsDatabases)
            PostgreSqlVariables.Remove();
        var postgreSql = file.NeedsDatabases ? await PrivatePostgreSql.StartAsync(cancellationToken) : null;
        try
        {
            if (postgreSql is not null && file.ReadsCommits)
            {
                await CommitLog.PrepareAsync(postgreSql.ConnectionString, cancellationToken);
                await postgreSql.RestartAsync(cancellationToken);
            }

            return new ProofServers(postgreSql, file.NeedsBroker ? await PrivateRabbitMq.StartAsync(cancellationToken) : null);
        }
        catch
        {
            if (postgreSql is not null)
                await postgreSql.DisposeAsync();
            throw;
        }
    }

    /// <summary>The processes of the servers; those that they start come on top.</summary>
    public async Task<IReadOnlyList<int>> ProcessesAsync() =>
    [
        .. PostgreSql is null ? Array.Empty<int>() : [PostgreSql.PostmasterPid],
        .. RabbitMq is null ? [] : await RabbitMq.FindPidsAsync(),
    ];

    public async ValueTask DisposeAsync()
    {
        try
        {
            if (RabbitMq is not null)
                await RabbitMq.DisposeAsync();
        }
        finally
        {
            if (PostgreSql is not null)
                await PostgreSql.DisposeAsync();
        }
    }
}
