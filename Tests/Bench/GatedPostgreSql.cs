using Kit.Runner.Results.Points;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Tests;

/// <summary>A proxy in front of PostgreSQL, which stops at one request.</summary>
internal sealed class GatedPostgreSql : IAsyncDisposable
{
    private readonly RequestGate gate = new();
    private readonly FaultProxy proxy;

    public GatedPostgreSql(string connectionString)
    {
        var server = new NpgsqlConnectionStringBuilder(connectionString);
        proxy = new FaultProxy(server.Host!, server.Port, new ProxiedNetwork { Filter = sides => gate.Open("database", new PostgreSqlWire(), sides) });
        (server.Host, server.Port) = ("127.0.0.1", proxy.Port);
        Through = server.ConnectionString;
    }

    /// <summary>The connection string that leads through it.</summary>
    public string Through { get; }

    public bool HasFired => gate.Fired.IsCompleted;

    public void Arm(MarkedRequest request, PointWay way) => gate.Arm(request, way);

    /// <summary>Waits until it has stopped.</summary>
    public Task FiredAsync() => gate.Fired.WaitAsync(Eventually.Limit);

    public ValueTask DisposeAsync() => proxy.DisposeAsync();
}
