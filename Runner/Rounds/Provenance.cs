using System.Reflection;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Servers.Machine;
using Npgsql;

namespace Kit.Runner.Rounds;

/// <summary>Where the numbers of a run come from: everything that somebody needs to judge or repeat it.</summary>
internal static class Provenance
{
    private static readonly string[] ServerSettings =
    [
        "server_version", "fsync", "synchronous_commit", "full_page_writes", "wal_sync_method", "wal_level", "shared_buffers", "max_wal_size",
        "checkpoint_timeout", "max_prepared_transactions", "track_commit_timestamp", "max_connections", "default_transaction_isolation",
    ];

    private static bool IsTiered => AppContext.GetData("System.Runtime.TieredCompilation") is not "false";

    /// <summary>What is known before the run has begun.</summary>
    public static async Task<RunDocument> OfAsync(RunPlan plan, CancellationToken cancellationToken)
    {
        return new RunDocument
        {
            CommandLine = plan.CommandLine,
            StartedUtc = DateTimeOffset.UtcNow,
            EndedUtc = null,
            Ending = RunEnding.Running,
            Commit = await CommitAsync(cancellationToken),
            Host = OfHost(),
            Packages = Packages(),
            Server = new Dictionary<string, string>(),
            Settings = plan.Sizes,
            Isolation = string.Join(", ", plan.Cells.Select(cell => cell.Mode.Isolation).Distinct()),
            ImmediateRetries = plan.Cells.Select(cell => cell.Mode).Distinct().ToDictionary(mode => mode.Name, mode => mode.ImmediateRetries),
            PoolSizes = new Dictionary<string, int> { ["queue"] = EndpointConnections.PoolSize, ["widgets"] = EndpointConnections.PoolSize },
            SeedingSeconds = null,
            Cells = [.. plan.Runnable.Select(NameOf)],
            LeftOut = [.. plan.Cells.Select(cell => (cell, plan.SupportOf(cell).Because)).Where(cell => cell.Because is not null).Select(cell => new CellLeftOut(NameOf(cell.cell), cell.Because!))],
        };
    }

    public static HostFacts OfHost()
    {
        var machine = MachineFacts.Read();
        return new HostFacts(machine.Cores, machine.CpuModel, machine.TotalMemoryBytes, machine.OperatingSystem, $"{machine.Runtime}{(IsTiered ? "" : ", tiered compilation off")}");
    }

    public static CellName NameOf(Cell cell) => new(cell.Kind.Framework, cell.Kind.Transport, cell.Mode.Name, cell.Access.Name);

    public static async Task<IReadOnlyDictionary<string, string>> OfServerAsync(string server, bool isOwn, CancellationToken cancellationToken)
    {
        var facts = new Dictionary<string, string>
        {
            ["server"] = isOwn ? "PostgreSQL, the kit's own, on this machine" : "PostgreSQL, the user's",
            ["connections"] = EndpointConnections.Description,
        };
        await using var source = NpgsqlDataSource.Create(EndpointConnections.ForRunner(server));
        await using var command = source.CreateCommand("SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY($1)");
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = ServerSettings });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        while (await reader.ReadAsync(cancellationToken))
            facts[reader.GetString(0)] = reader.GetString(1);

        return facts;
    }

    public static IReadOnlyDictionary<string, string> OfBroker(RunBroker broker, QueueType queueType) => new Dictionary<string, string>
    {
        ["broker"] = broker.Processes is null ? "RabbitMQ, the user's" : "RabbitMQ, the kit's own, on this machine",
        ["version"] = broker.Version,
        ["queues"] = $"{queueType.ToString().ToLowerInvariant()}, durable",
        ["messages"] = "persistent, each publish confirmed",
        ["prefetch"] = $"{BareEndpointExtensions.DefaultPrefetch} (no limit without acknowledgements: transactions-off)",
    };

    public static IReadOnlyDictionary<string, string> OfSqlServer(string version, string edition) => new Dictionary<string, string>
    {
        ["server"] = "SQL Server, the user's",
        ["version"] = version,
        ["edition"] = edition,
        ["databases"] = "recovery simple, locking read committed; snapshot isolation allowed, for the runner's looks",
        ["restore"] = "by copy",
    };

    /// <summary>A probe's findings, for the report.</summary>
    public static CellProbed OfProbe(Cell cell, ProbeResult probe) => new(
        NameOf(cell),
        probe.ScopeIsolation,
        probe.Isolation,
        probe.Order switch
        {
            null => "not seen",
            { IsRowVisibleInHandler: true } => "with the insert",
            _ => "when the handler has returned",
        },
        probe.Order switch
        {
            null => "not seen",
            { IsMessageLeftInHandler: false } => "before the handler",
            { IsMessageLeftAfterCommit: true } => "after the row's commit",
            { IsMessageLeftAfterCommit: false } => "with the row's commit",
            _ => "when the handler has returned",
        },
        probe.MostTogether,
        probe.BodyBytes);

    public static IReadOnlyDictionary<string, string> Packages()
    {
        var packages = new Dictionary<string, string>();
        foreach (var assembly in EndpointKinds.All.SelectMany(kind => kind.Packages).Append(typeof(Dapper.SqlMapper).Assembly))
            packages[assembly.GetName().Name!] = assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion.Split('+')[0];

        foreach (var package in OptionalPackages.All)
        {
            // What an assembly says of itself comes first.
            var version = packages.GetValueOrDefault(package.Name, package.Version);
            packages[package.Name] = package.Support.Because ?? (package.IsFromFolder ? $"{version} (from a folder, not from a package server)" : version);
        }

        return packages;
    }

    /// <summary>The commit of the work tree that the runner was built in, and whether the tree holds changes beside it.</summary>
    public static async Task<GitCommit?> CommitAsync(CancellationToken cancellationToken)
    {
        if (ExternalProgram.OnSearchPath("git") is not { } path)
            return null;

        var git = new ExternalProgram(path, Folder: AppContext.BaseDirectory);
        var commit = await git.RunAsync(["rev-parse", "HEAD"], cancellationToken);
        var changes = await git.RunAsync(["status", "--porcelain", "--", ":/", ":(top,exclude)results"], cancellationToken);
        return commit.Succeeded ? new GitCommit(commit.Output.Trim(), changes.Output.Trim().Length > 0) : null;
    }
}
