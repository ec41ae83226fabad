using System.Globalization;
using Kit.Runner.Servers;

namespace Kit.Tests.TwoPhase;

/// <summary>A server of the test's own, with as many slots for prepared transactions as the test says.</summary>
internal static class ServerOfFewSlots
{
    /// <summary>Starts it; the test is ignored, with the reason, on a machine without PostgreSQL's programs.</summary>
    public static async Task<PrivatePostgreSql> StartAsync(int slots)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var server = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        try
        {
            await TestDatabases.ExecuteAsync(
                server.ConnectionString, $"ALTER SYSTEM SET max_prepared_transactions = {slots.ToString(CultureInfo.InvariantCulture)}");
            await server.RestartAsync(CancellationToken.None);
            return server;
        }
        catch
        {
            await server.DisposeAsync();
            throw;
        }
    }
}
