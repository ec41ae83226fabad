using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.Operations;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Runner.Stage.Transports;

/// <summary>Queues in PostgreSQL, where most transports also have their widgets.</summary>
internal class PostgreSqlTransport : Transport
{
    public static TransportSetting ServerSetting { get; } = new(
        ConnectionStrings.PostgreSqlOption,
        "Connection string of a PostgreSQL server, for a role that may create databases; " +
        $"or environment {ConnectionStrings.PostgreSqlVariable}. Without it the kit starts its own server.",
        "connection string")
    { Variable = ConnectionStrings.PostgreSqlVariable };

    /// <summary>The route of a worker on another machine to the server on which it finds its run.</summary>
    public static WorkerRoute RouteToJoin { get; } =
        RouteTo(ServerSetting, "Connection string of the run's PostgreSQL server, as this machine reaches it, for the role that the run uses.");

    private static readonly ProxyRoute Proxied = new(
        address =>
        {
            var settings = new NpgsqlConnectionStringBuilder(address);
            return (settings.Host!, settings.Port);
        },
        (address, port) => new NpgsqlConnectionStringBuilder(address) { Host = "127.0.0.1", Port = port }.ConnectionString)
    {
        Wire = () => new PostgreSqlWire(),
        WithLimit = (address, limit) => new NpgsqlConnectionStringBuilder(address)
        {
            CommandTimeout = (int)limit.TotalSeconds,
            // In milliseconds: how long the client then waits for the cancelled command.
            CancellationTimeout = 500,
        }.ConnectionString,
    };

    public override string Name => TransportName.PostgreSql;

    public override string Title => "PostgreSQL";

    public override Transport Widgets => this;

    public override ArrivalClock? Arrivals => ArrivalClock.CommitTimestamps;

    public override string? Own => "a PostgreSQL server";

    public override TransportSetting? Server => ServerSetting;

    public override ProxyRoute? ProxyRoute => Proxied;

    public override WorkerRoute? WorkerRoute => RouteToJoin;

    public override ExistingQueue? ExistingQueue { get; } = new(
        "Connection string of the queue's database, with Database=….", DeadLettersOnPostgreSql.Open)
    {
        WhyNot = typed => LacksDatabase(typed) ? "expected the queue's database in the connection string (Database=…)." : null,
    };

    public override Support SupportOf(TransactionMode mode, HandlerNeeds needs) => mode == TransactionMode.FullDtc && needs.SeesRows
        ? Support.No("a row becomes visible a moment after its message is done, so a worker's next message may not see it")
        : needs.Rows == RowsPlace.AnotherServer && Widgets == this && (mode == TransactionMode.FullDtc || mode == TransactionMode.FullDtcWaiting)
        ? Support.No($"its queue and rows are on one server; on two see {TransportName.PostgreSqlApart}")
        : Support.Yes;

    public override async Task<IReadOnlyList<Lack>> CheckAsync(TransportArguments arguments, CancellationToken cancellationToken)
    {
        var facts = await PostgreSqlFacts.ReadAsync(arguments[Server!]!, cancellationToken);
        var findings = facts.Findings(twoPhaseWanted: false).ToList();
        return
        [
            .. Lack.OfEveryCell(findings),
            .. Lack.Of(
                facts.Findings(twoPhaseWanted: true).Except(findings),
                cell => cell is { Mode.RowCommit: RowCommit.InTwoPhases } or { Condition.HoldsPrepared: true }),
        ];
    }

    public override async Task<PostgreSqlFacts?> ReadDatabaseAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        await PostgreSqlFacts.ReadAsync(arguments[Server!]!, cancellationToken);

    public override async Task<ServerInUse> StartAsync(TransportArguments arguments, CancellationToken cancellationToken)
    {
        if (arguments[Server!] is { } named)
            return new PostgreSqlInUse(this, named);

        PostgreSqlVariables.Remove();
        return new PostgreSqlInUse(this, await PrivatePostgreSql.StartAsync(
            ServerPlace.Choose(arguments.AllowsMemory).Path, arguments.Connections, cancellationToken));
    }

    public override async Task<IReadOnlyList<Finding>> ExamineAsync(
        TransportArguments arguments, CancellationToken cancellationToken)
    {
        var named = arguments[Server!];
        return [await PostgreSqlBinaries.ExamineAsync(isNeeded: named is null, cancellationToken), .. await ServerAsync(named, cancellationToken)];
    }

    public override async Task<IAsyncDisposable> RefuseAsync(
        string address, string queue, QueueTable table, CancellationToken cancellationToken) =>
        await RefusingTable.MakeAsync(address, table.Name, table.Others, cancellationToken);

    public override RunDocument Describe(RunDocument document, IReadOnlyDictionary<string, string> facts) =>
        document with { Server = facts };

    protected override IReadOnlyDictionary<string, string>? FactsIn(RunDocument document) => document.Server;

    /// <summary>The route to a server that an option names.</summary>
    protected static WorkerRoute RouteTo(TransportSetting server, string description) => new(
        address => new NpgsqlConnectionStringBuilder(address).Database!,
        (arguments, database) => EndpointConnections.For(
            new NpgsqlConnectionStringBuilder(arguments[server]!) { Database = database }.ConnectionString),
        (arguments, cancellationToken) => PostgreSqlFacts.ReadAsync(arguments[server]!, cancellationToken))
    {
        Description = description,
    };

    protected static async Task<IEnumerable<Finding>> ServerAsync(string? named, CancellationToken cancellationToken)
    {
        const string what = "PostgreSQL server";
        if (named is null)
            return [new Finding(what, "none named; the kit starts its own, with durability on")];
        try
        {
            // If the server lacks something for two-phase commit, those cells are left out, and the others run.
            return (await PostgreSqlFacts.ReadAsync(named, cancellationToken)).Findings(twoPhaseWanted: false);
        }
        catch (KitException unusable)
        {
            return [new Finding(what, ConnectionStrings.Mask(named), unusable.Message, unusable.Remedy, IsFatal: true)];
        }
    }

    // Without it the driver uses the database with the user's name, which is hardly ever intended.
    private static bool LacksDatabase(string connectionString)
    {
        try
        {
            return new NpgsqlConnectionStringBuilder(connectionString).Database is null;
        }
        catch (Exception unreadable) when (unreadable is ArgumentException or FormatException)
        {
            // The code that opens it reports that.
            return false;
        }
    }
}
