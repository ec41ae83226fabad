using Kit.Runner.Servers;
using Npgsql;
using Npgsql.Replication;
using NpgsqlTypes;

namespace Kit.Tests.AcrossServers;

/// <summary>A standby, as far as its server knows: it receives the log, and says that it has it.</summary>
internal sealed class AttachedStandby : IAsyncDisposable
{
    private readonly PhysicalReplicationConnection connection;
    private readonly CancellationTokenSource stop = new();
    private Task receiving = Task.CompletedTask;

    private AttachedStandby(PhysicalReplicationConnection connection) => this.connection = connection;

    /// <param name="server">The server whose log it receives.</param>
    /// <param name="name">Its name in <c>synchronous_standby_names</c>.</param>
    public static async Task<AttachedStandby> StartAsync(PrivatePostgreSql server, string name)
    {
        var settings = new NpgsqlConnectionStringBuilder(server.ConnectionString) { ApplicationName = name };
        var standby = new AttachedStandby(new PhysicalReplicationConnection(settings.ConnectionString));
        await standby.connection.Open();
        var system = await standby.connection.IdentifySystem();
        standby.receiving = standby.ReceiveAsync(system.XLogPos);
        return standby;
    }

    public async ValueTask DisposeAsync()
    {
        await stop.CancelAsync();
        await receiving;
        await connection.DisposeAsync();
        stop.Dispose();
    }

    private async Task ReceiveAsync(NpgsqlLogSequenceNumber from)
    {
        try
        {
            await foreach (var received in connection.StartReplication(from, stop.Token))
            {
                connection.SetReplicationStatus(received.WalEnd);
                await connection.SendStatusUpdate(stop.Token);
            }
        }
        catch (OperationCanceledException)
        {
            // The test has ended.
        }
    }
}
