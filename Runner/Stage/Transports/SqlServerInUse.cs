using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.SqlServer;

namespace Kit.Runner.Stage.Transports;

/// <summary>The SQL Server of a command, always the user's.</summary>
internal sealed class SqlServerInUse(SqlServerWithDriver transport, string server) : DatabaseInUse
{
    private SqlServerDatabases? databases;

    public override string ConnectionString => server;

    public override IReadOnlyList<int>? Processes => null;

    public override IReadOnlyDictionary<string, string> Variables =>
        new Dictionary<string, string> { [ConnectionStrings.SqlServerVariable] = server };

    protected override IWidgetStore Store => databases ??= new SqlServerDatabases(server);

    /// <summary>SQL Server does not record when a transaction committed.</summary>
    public override Task<ClockSource> ReadClockAsync(CancellationToken cancellationToken) =>
        Task.FromResult(ClockSource.HandlerCompletions);

    public override async Task<IReadOnlyDictionary<string, string>?> ReadFactsAsync(CancellationToken cancellationToken)
    {
        var asked = await SqlServerFacts.ReadAsync(server, cancellationToken);
        var facts = transport.FactsOf(this);
        facts["version"] = asked.Version;
        facts["edition"] = asked.Edition;
        facts["databases"] = "recovery simple, locking read committed; snapshot isolation allowed, for the runner's queries";
        facts["restore"] = "by copy";
        return facts;
    }

    public override Task<IReadOnlyList<Leftover>> RemoveLeftoversAsync(CancellationToken cancellationToken) =>
        SqlServerOwner.RemoveLeftoversAsync(server, cancellationToken);

    public override ValueTask DisposeAsync() => DropAsync(databases);
}
