using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>One server is proved with two plain roles, of which neither sees when the other's session began.</summary>
[Parallelizable]
public sealed class RolesWithoutRights
{
    [Test]
    public async Task Queue_and_data_on_one_server_are_accepted()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var queues = NpgsqlDataSource.Create(await AsAsync("queues", databases.Queue));
        await using (var queue = await queues.OpenConnectionAsync())
        await using (var server = await OneServer.ProveAsync(queue, await AsAsync("data", databases.Widgets), "full-dtc", CancellationToken.None))
            Assert.That(server.Refusal, Is.Null);
    }

    private static async Task<string> AsAsync(string role, string connectionString)
    {
        var name = $"test_{Guid.NewGuid():N}_{role}";
        await TestDatabases.ExecuteAsync(connectionString, $"CREATE ROLE {name} LOGIN PASSWORD 'plain'");
        return new NpgsqlConnectionStringBuilder(connectionString) { Username = name, Password = "plain" }.ConnectionString;
    }
}
