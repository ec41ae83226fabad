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
    private readonly (RabbitMqAddress Address, RabbitMqFacts Facts)? namedRabbitMq;
    private readonly Action<string> say;

    private ProofServers(
        PrivatePostgreSql? ownPostgreSql, PrivateRabbitMq? ownRabbitMq, NamedPostgreSql? namedPostgreSql,
        (RabbitMqAddress Address, RabbitMqFacts Facts)? namedRabbitMq, Action<string> say) =>
        (this.ownPostgreSql, this.ownRabbitMq, this.namedPostgreSql, this.namedRabbitMq, this.say) =
        (ownPostgreSql, ownRabbitMq, namedPostgreSql, namedRabbitMq, say);

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

    /// <summary>What the kit does on the user's servers, in sentences.</summary>
    public IEnumerable<string> Announced
    {
        get
        {
            if (namedPostgreSql is not null)
                yield return $"On your PostgreSQL {namedPostgreSql.Version}, {namedPostgreSql.Address}: in databases of the kit, which it drops; unencrypted.";
            foreach (var leftover in namedPostgreSql?.Leftovers ?? [])
                yield return $"{leftover}";
            if (namedRabbitMq is { Facts: var broker })
                yield return $"On your RabbitMQ {broker.Version}, {broker.Address}: in virtual hosts of the kit, which it removes; unencrypted.";
        }
    }

    /// <exception cref="KitException">One of them is not installed, or does not start.</exception>
    public static Task<ProofServers> StartAsync(ProofFile file, CancellationToken cancellationToken) =>
        StartAsync(file, NamedServers.None, _ => { }, cancellationToken);

    /// <summary>Starts the servers that are not named, and looks at those that are.</summary>
    /// <param name="say">Receives a line about each database that the user's server does not drop.</param>
    /// <exception cref="KitException">One of them is not installed, does not start, or cannot be used.</exception>
    public static async Task<ProofServers> StartAsync(ProofFile file, NamedServers named, Action<string> say, CancellationToken cancellationToken)
    {
        if (file.NeedsBroker && named.RabbitMq is null && PrivateRabbitMq.FindSupport() is { Because: { } because })
            throw new KitException($"The proof needs a RabbitMQ broker of its own: {because}.", "Install it with the command 'install'.");

        if (file.NeedsDatabases)
            PostgreSqlVariables.Remove();
        var broker = named.RabbitMq is { } address ? (address, await LookAsync(address, cancellationToken)) : ((RabbitMqAddress, RabbitMqFacts)?)null;
        var database = named.PostgreSql is { } server ? await NamedPostgreSql.OpenAsync(server.ConnectionString, cancellationToken) : null;
        var startedDatabase = file.NeedsDatabases && database is null ? await PrivatePostgreSql.StartAsync(cancellationToken) : null;
        try
        {
            if (startedDatabase is not null && file.ReadsCommits)
            {
                await CommitLog.PrepareAsync(startedDatabase.ConnectionString, cancellationToken);
                await startedDatabase.RestartAsync(cancellationToken);
            }

            var startedBroker = file.NeedsBroker && broker is null ? await PrivateRabbitMq.StartAsync(cancellationToken) : null;
            return new ProofServers(startedDatabase, startedBroker, database, broker, say);
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
            await NamedPostgreSql.CreateAsync(namedPostgreSql.ConnectionString, name, cancellationToken);
            return;
        }

        naming(database);
        await using var server = NpgsqlDataSource.Create(PostgreSql!);
        await using var create = server.CreateCommand($"CREATE DATABASE {DatabaseOwner.Quoted(database)}");
        await create.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Drops a database. What the user's server does not drop is no failure: the next start tries again.</summary>
    /// <param name="server">Connection string of the kit's own sessions.</param>
    /// <exception cref="NpgsqlException">The server is out of reach, or the kit's own refuses it.</exception>
    public async Task DropDatabaseAsync(string server, string database)
    {
        if (namedPostgreSql is null)
            await DatabaseOwner.DropAsync(server, database, CancellationToken.None);
        else if (await DatabaseOwner.TryDropAsync(server, database, CancellationToken.None) is { } because)
            say($"{database} is still on your PostgreSQL server: {because}. The next start tries again.");
    }

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

    private static async Task<RabbitMqFacts> LookAsync(RabbitMqAddress broker, CancellationToken cancellationToken)
    {
        var facts = await RabbitMqFacts.RequireAsync(broker, cancellationToken);
        return facts.MayMakeVirtualHosts
            ? facts
            : throw new KitException(
                $"The kit makes a virtual host of its own, because your service has its own names of queues, and this user may not: {facts.Address}.",
                "rabbitmqctl set_user_tags <user> administrator; or name a user who is an administrator.");
    }

    private static Dictionary<string, string> Known(params IEnumerable<(string Name, string? Fact)> facts) =>
        facts.Where(fact => fact.Fact is not null).ToDictionary(fact => fact.Name, fact => fact.Fact!);
}
