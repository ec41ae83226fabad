using Kit.Endpoints.Bare.RabbitMq;
using Kit.Prove.Files;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Prove.Service;

/// <summary>The servers for an application: the kit's own, which are stopped and removed when this is disposed, or the user's.</summary>
internal sealed class ProofServers : IAsyncDisposable
{
    private readonly PrivatePostgreSql? ownPostgreSql;
    private readonly PrivateRabbitMq? ownRabbitMq;
    private readonly NamedPostgreSql? namedPostgreSql;
    private readonly NamedRabbitMq? namedRabbitMq;
    private readonly NamedServers named;
    private readonly Action<string> say;

    private ProofServers(
        PrivatePostgreSql? ownPostgreSql, PrivateRabbitMq? ownRabbitMq, NamedPostgreSql? namedPostgreSql, NamedRabbitMq? namedRabbitMq, NamedServers named,
        Action<string> say) =>
        (this.ownPostgreSql, this.ownRabbitMq, this.namedPostgreSql, this.namedRabbitMq, this.named, this.say) =
        (ownPostgreSql, ownRabbitMq, namedPostgreSql, namedRabbitMq, named, say);

    /// <summary>Connection string of a role that may create databases; <see langword="null"/>: the application needs none.</summary>
    public string? PostgreSql => ownPostgreSql?.ConnectionString ?? namedPostgreSql?.ConnectionString;

    /// <summary>Address for a user who may create virtual hosts; <see langword="null"/>: the application needs none.</summary>
    public RabbitMqAddress? RabbitMq => ownRabbitMq?.Address ?? namedRabbitMq?.Address;

    /// <summary>The servers' versions, by name.</summary>
    public IReadOnlyDictionary<string, string> Versions => Known(
        (Placeholders.PostgreSql, ownPostgreSql?.Version.ToString() ?? namedPostgreSql?.Version),
        (Placeholders.Broker, ownRabbitMq?.Version.ToString() ?? namedRabbitMq?.Facts.Version));

    /// <summary>The addresses of the user's servers, without passwords, by name; <see langword="null"/>: all are the kit's own.</summary>
    public IReadOnlyDictionary<string, string>? Named => AreOwn
        ? null
        : Known((Placeholders.PostgreSql, namedPostgreSql?.Address), (Placeholders.Broker, namedRabbitMq?.Facts.Address));

    /// <summary>True if the kit has started them all.</summary>
    public bool AreOwn => IsPostgreSqlOwn && namedRabbitMq is null;

    /// <summary>True if no other client of the PostgreSQL server adds to its counters.</summary>
    public bool IsPostgreSqlOwn => namedPostgreSql is null;

    /// <summary>The reason why the log of its databases cannot be decoded; <see langword="null"/>: it can, or there is none.</summary>
    public KitException? Undecodable => namedPostgreSql?.Undecodable;

    /// <summary>
    /// The standbys for which commits on the user's server can wait after their moment; <see langword="null"/>: none, or the server is the kit's.
    /// </summary>
    public string? Standbys => namedPostgreSql?.Standbys;

    /// <summary>What the kit does on the user's servers, in sentences.</summary>
    public IEnumerable<string> Announced
    {
        get
        {
            if (namedPostgreSql is not null)
            {
                yield return $"On your PostgreSQL {namedPostgreSql.Version}, {namedPostgreSql.Address}{From(named.PostgreSqlVariable)}: " +
                    "in databases of the kit, which it drops; unencrypted.";
            }

            foreach (var leftover in namedPostgreSql?.Leftovers ?? [])
                yield return $"{leftover}";
            if (namedRabbitMq is { Facts: var broker })
            {
                yield return $"On your RabbitMQ {broker.Version}, {broker.Address}{From(named.RabbitMqVariable)}: " +
                    "in virtual hosts of the kit, which it removes; unencrypted.";
            }

            foreach (var leftover in namedRabbitMq?.Leftovers ?? [])
                yield return $"{leftover}";
        }
    }

    /// <exception cref="KitException">One of them is not installed, or does not start.</exception>
    public static Task<ProofServers> StartAsync(ProofFile file, CancellationToken cancellationToken) =>
        StartAsync(file, NamedServers.None, _ => { }, cancellationToken);

    /// <summary>Starts the servers that are not named, and looks at those that are.</summary>
    /// <param name="given">Also those that the application does not need.</param>
    /// <param name="say">Receives a line about each database or virtual host that the user's server does not remove.</param>
    /// <exception cref="KitException">One of them is not installed, does not start, or cannot be used.</exception>
    public static async Task<ProofServers> StartAsync(ProofFile file, NamedServers given, Action<string> say, CancellationToken cancellationToken)
    {
        var needed = given.NeededBy(file);
        if (file.NeedsBroker && needed.RabbitMq is null && PrivateRabbitMq.FindSupport() is { Because: { } because })
            throw new KitException($"The proof needs a RabbitMQ broker of its own: {because}.", "Install it with the command 'install'.");

        if (file.NeedsDatabases)
            PostgreSqlVariables.Remove();
        var broker = needed.RabbitMq is { } address ? await LookAsync(address, cancellationToken) : null;
        var database = needed.PostgreSql is { } server ? await NamedPostgreSql.OpenAsync(server.ConnectionString, cancellationToken) : null;
        var startedDatabase = file.NeedsDatabases && database is null ? await PrivatePostgreSql.StartAsync(cancellationToken) : null;
        try
        {
            if (startedDatabase is not null && file.ReadsCommits)
            {
                await CommitLog.PrepareAsync(startedDatabase.ConnectionString, cancellationToken);
                await startedDatabase.RestartAsync(cancellationToken);
            }

            var startedBroker = file.NeedsBroker && broker is null ? await PrivateRabbitMq.StartAsync(cancellationToken) : null;
            return new ProofServers(startedDatabase, startedBroker, database, broker, needed, say);
        }
        catch
        {
            if (startedDatabase is not null)
                await startedDatabase.DisposeAsync();
            throw;
        }
    }

    /// <summary>What cannot be measured of a file's service on these servers, in sentences; <see langword="null"/>: everything can.</summary>
    public IReadOnlyList<string>? LacksOf(ProofFile file) => Undecodable is { } because
        ?
        [
            $"What commits together is not known{(HasRows(file) ? ", and rows have the moments of their commit timestamps" : "")}. " +
            $"{because.Message} {because.Remedy}",
        ]
        : null;

    /// <summary>Checks that the moments of rows can be read.</summary>
    /// <param name="asTheyCome">True if they are needed while the service runs.</param>
    /// <exception cref="KitException">They cannot.</exception>
    public void RequireMoments(ProofFile file, bool asTheyCome)
    {
        if (asTheyCome && HasRows(file) && namedPostgreSql is { TakesAnyStandby: true })
        {
            throw new KitException(
                "'load' follows the commits of rows, and the server would take it for a synchronous standby: synchronous_standby_names has '*'.",
                "Name the standbys there, or use 'drain', which follows nothing.");
        }

        if (Undecodable is not { } because || !HasRows(file))
            return;

        if (asTheyCome)
            throw new KitException($"'load' follows the commits of rows. {because.Message}", because.Remedy);
        if (!namedPostgreSql!.TracksCommitTimestamps)
        {
            throw new KitException(
                $"The server does not tell when rows were committed: track_commit_timestamp is off. {because.Message}",
                $"{because.Remedy} Or, for the rate alone: {PostgreSqlFacts.Set("track_commit_timestamp", "on")}");
        }
    }

    /// <summary>Creates an empty database.</summary>
    /// <param name="database">Its name in the file, with the number of the application's databases.</param>
    /// <param name="naming">Receives its name on the server, before it is there.</param>
    /// <exception cref="NpgsqlException">The server refuses it.</exception>
    public async Task CreateDatabaseAsync(string database, Action<string> naming, CancellationToken cancellationToken)
    {
        if (namedPostgreSql is not null)
        {
            var name = DatabaseOwner.NewName();
            naming(name);
            await DatabaseOwner.CreateAsync(namedPostgreSql.ConnectionString, name, template: null, cancellationToken);
            return;
        }

        naming(database);
        await using var server = NpgsqlDataSource.Create(PostgreSql!);
        await using var create = server.CreateCommand($"CREATE DATABASE {DatabaseOwner.Quoted(database)}");
        await create.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Drops a database. What the user's server does not drop is no failure: the next start tries again.</summary>
    /// <exception cref="NpgsqlException">The server is out of reach, or the kit's own refuses it.</exception>
    public async Task DropDatabaseAsync(string database)
    {
        if (namedPostgreSql is null)
            await DatabaseOwner.DropAsync(PostgreSql!, database, CancellationToken.None);
        else if (await DatabaseOwner.TryDropAsync(PostgreSql!, database, CancellationToken.None) is { } because)
            say($"{database} is still on your PostgreSQL server: {because}. The next start tries again.");
    }

    /// <summary>Removes a virtual host. What the user's broker does not remove is no failure: the next start tries again.</summary>
    /// <exception cref="HttpRequestException">The kit's own broker refuses it.</exception>
    public async Task RemoveAsync(BrokerSpace space)
    {
        if (namedRabbitMq is null)
            await space.DisposeAsync();
        else if (await space.TryRemoveAsync() is { } because)
            say($"The virtual host {space.Address.VirtualHost} is still on your RabbitMQ broker: {because} The next start tries again.");
    }

    /// <summary>A connection string for sessions of the kit, which no limit of a user's role ends.</summary>
    public string ForKit(string connection) => namedPostgreSql?.ForKit(connection) ?? connection;

    /// <summary>Begins to note the commits in databases.</summary>
    /// <param name="databases">By the names of the file.</param>
    /// <exception cref="KitException">The server cannot decode its log.</exception>
    public async Task<ICommits> BeginCommitsAsync(
        ProofFile file, IReadOnlyList<(string Database, NpgsqlDataSource Source, string Connection)> databases, CancellationToken cancellationToken) =>
        Undecodable is not null
            ? new CommitStamps([.. databases.Select(one => (one.Database, one.Source))], [.. file.Effects.OfType<RowEffect>()])
            : await CommitLog.BeginAsync(
                databases, isTemporary: !IsPostgreSqlOwn, IsPostgreSqlOwn ? CommitLog.Explained : NamedPostgreSql.Explained, cancellationToken);

    /// <summary>The lead of the clock that stamps the effects of a file; <see langword="null"/>: it is this machine's.</summary>
    public async Task<ClockLead?> ReadClockAsync(ProofFile file, CancellationToken cancellationToken) =>
        namedPostgreSql is null || !HasRows(file) ? null : await namedPostgreSql.ReadClockAsync(cancellationToken);

    /// <summary>The processes of the kit's own servers; those that they start come on top.</summary>
    public async Task<IReadOnlyList<int>> ProcessesAsync() =>
    [
        .. ownPostgreSql is null ? Array.Empty<int>() : [ownPostgreSql.PostmasterPid],
        .. ownRabbitMq is null ? [] : await ownRabbitMq.FindPidsAsync(),
    ];

    public async ValueTask DisposeAsync()
    {
        try
        {
            if (ownRabbitMq is not null)
                await ownRabbitMq.DisposeAsync();
        }
        finally
        {
            if (ownPostgreSql is not null)
                await ownPostgreSql.DisposeAsync();
        }
    }

    private static bool HasRows(ProofFile file) => file.Effects.OfType<RowEffect>().Any();

    private static string From(string? variable) => variable is null ? "" : $" ({variable})";

    private static async Task<NamedRabbitMq> LookAsync(RabbitMqAddress broker, CancellationToken cancellationToken)
    {
        var facts = await RabbitMqFacts.RequireAsync(broker, cancellationToken);
        return facts.MayMakeVirtualHosts
            ? new NamedRabbitMq(broker, facts, await BrokerSpace.RemoveLeftoversAsync(broker, cancellationToken))
            : throw new KitException(
                $"The kit makes a virtual host of its own, because your service has its own names of queues, and this user may not: {facts.Address}.",
                "rabbitmqctl set_user_tags <user> administrator; or name a user who is an administrator.");
    }

    private static Dictionary<string, string> Known(params IEnumerable<(string Name, string? Fact)> facts) =>
        facts.Where(fact => fact.Fact is not null).ToDictionary(fact => fact.Name, fact => fact.Fact!);

    /// <summary>A broker of the user. The kit makes virtual hosts there and removes them.</summary>
    /// <param name="Leftovers">Virtual hosts that killed processes of the kit had left there.</param>
    private sealed record NamedRabbitMq(RabbitMqAddress Address, RabbitMqFacts Facts, IReadOnlyList<Leftover> Leftovers);
}
