using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Stage.Transports;

/// <summary>Queues and widgets in SQL Server: the part that works without the driver, whose package is optional.</summary>
internal class SqlServerTransport : Transport
{
    /// <summary>The doctor's name for it.</summary>
    protected const string What = "SQL Server";

    private static readonly TransportSetting ServerSetting = new(
        "--sqlserver",
        "Connection string of a SQL Server, for a login that may create databases; " +
        $"or environment {ConnectionStrings.SqlServerVariable}. Without it the cells on SQL Server are left out: the kit does not start one.",
        "connection string")
    { Variable = ConnectionStrings.SqlServerVariable };

    public sealed override string Name => TransportName.SqlServer;

    public sealed override string Title => "SQL Server";

    public sealed override Transport Widgets => this;

    public sealed override TransportSetting? Server => ServerSetting;

    public sealed override bool CanPromote => true;

    public sealed override bool HasBeenRun => false;

    public sealed override Support SupportOf(TransactionMode mode, HandlerNeeds needs) =>
        mode == TransactionMode.FullDtc && needs.Rows != RowsPlace.SameDatabase
            ? Support.No("two databases have two connection strings, which promote its transaction to MSDTC; that is full-dtc-promoted")
            : Support.Yes;

    /// <summary>The kit does not start one.</summary>
    public sealed override Support SupportAnywhere(TransportArguments arguments) => IsNamed(arguments)
        ? Support.Yes
        : Support.No($"needs a SQL Server: none is named (--sqlserver or {ConnectionStrings.SqlServerVariable}), and the kit starts none");

    /// <summary>Without the driver none of its cells can run, even if a server is named.</summary>
    public override Support SupportHere(TransportArguments arguments) => IsNamed(arguments)
        ? Support.No("the kit was built without the driver of SQL Server")
        : SupportAnywhere(arguments);

    /// <exception cref="NotSupportedException">Always: the kit was built without the driver, and no cell on it can run.</exception>
    public override Task<ServerInUse> StartAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        throw new NotSupportedException("The kit was built without the driver of SQL Server.");

    public sealed override async Task<IReadOnlyList<Finding>> ExamineAsync(
        TransportArguments arguments, CancellationToken cancellationToken) =>
        arguments[ServerSetting] is { } named
            ? await ExamineAsync(named, cancellationToken)
            : [new Finding(What, "none named; its cells are left out") { IsLeftOut = true }];

    public sealed override RunDocument Describe(RunDocument document, IReadOnlyDictionary<string, string> facts) =>
        document with { SqlServer = facts };

    protected sealed override IReadOnlyDictionary<string, string>? FactsIn(RunDocument document) => document.SqlServer;

    /// <summary>The doctor's findings about the named server.</summary>
    protected virtual Task<IReadOnlyList<Finding>> ExamineAsync(string named, CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Finding>>(
            [new Finding(What, $"{ConnectionStrings.Mask(named)}: not used, the kit was built without the driver")]);
}
