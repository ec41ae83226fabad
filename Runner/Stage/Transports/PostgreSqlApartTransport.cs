using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;

namespace Kit.Runner.Stage.Transports;

/// <summary>Queues on a PostgreSQL server of their own; the widgets are on that of <see cref="PostgreSqlTransport"/>.</summary>
internal sealed class PostgreSqlApartTransport : PostgreSqlTransport
{
    private static readonly TransportSetting QueueServerSetting = new(
        "--queue-postgresql",
        $"Connection string of a second PostgreSQL server, for the queues of the transport {TransportName.PostgreSqlApart}; " +
        $"or environment {ConnectionStrings.QueuePostgreSqlVariable}. Without it the kit starts its own.",
        "connection string")
    { Variable = ConnectionStrings.QueuePostgreSqlVariable };

    public override string Name => TransportName.PostgreSqlApart;

    public override string Title => "Second PostgreSQL";

    public override Transport Widgets => Named(TransportName.PostgreSql);

    public override string? Own => "a second PostgreSQL server";

    public override TransportSetting? Server => QueueServerSetting;

    public override WorkerRoute? WorkerRoute { get; } = RouteTo(
        QueueServerSetting,
        "Connection string of the run's second PostgreSQL server, as this machine reaches it; needed if the run has cells on " +
        $"{TransportName.PostgreSqlApart}.");

    /// <summary>The widgets' transport opens the dead letters of any queue in PostgreSQL.</summary>
    public override ExistingQueue? ExistingQueue => null;

    public override RunDocument Describe(RunDocument document, IReadOnlyDictionary<string, string> facts) => DescribeByTitle(document, facts);

    public override string ForManyUses(string address) => EndpointConnections.ForManyUses(address);

    /// <summary>The programs are those of the widgets' server.</summary>
    public override async Task<IReadOnlyList<Finding>> ExamineAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        arguments[QueueServerSetting] is { } named ? [.. Lack.NoneFatal(await ServerAsync(named, cancellationToken))] : [];

    protected override IReadOnlyDictionary<string, string>? FactsIn(RunDocument document) => FactsByTitle(document);
}
