using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>A running copy of a private server, made by <c>pg_basebackup</c>: the same system identifier and rows.</summary>
internal sealed class PrivateClone : IAsyncDisposable
{
    private const int PortAttempts = 5;

    private readonly ClusterControl control;
    private int port;

    private PrivateClone(ClusterControl control) => this.control = control;

    public static async Task<PrivateClone> OfAsync(PrivatePostgreSql server)
    {
        var origin = new NpgsqlConnectionStringBuilder(server.ConnectionString);
        var binaries = await PostgreSqlBinaries.FindAsync(CancellationToken.None);
        var user = await UnprivilegedUser.FindAsync("PostgreSQL", "postgres", CancellationToken.None);
        var folder = ClusterFolder.Create(Path.GetTempPath());
        var clone = new PrivateClone(new ClusterControl(binaries, folder, user));
        try
        {
            Succeed(await folder.Owned.HandOverAsync(user, CancellationToken.None));
            var password = new Dictionary<string, string?>(StringComparer.Ordinal) { ["PGPASSWORD"] = origin.Password };
            Succeed(await new ExternalProgram(binaries.PathOf("pg_basebackup"), user, folder.Server, password).RunAsync(
                [
                    "--host", origin.Host!, "--port", $"{origin.Port}", "--username", origin.Username!,
                    "--pgdata", folder.Data, "--checkpoint", "fast",
                ],
                CancellationToken.None));
            Assert.That(await clone.StartAsync(folder), Is.True, () => $"the clone starts: {clone.control.LogEnd}");
            return clone;
        }
        catch
        {
            await clone.DisposeAsync();
            throw;
        }
    }

    /// <summary>The same database, on the clone.</summary>
    public string ConnectionTo(string connectionString) =>
        new NpgsqlConnectionStringBuilder(connectionString) { Port = port }.ConnectionString;

    /// <summary>The server's address, as a list of hosts takes it.</summary>
    public string Address => $"127.0.0.1:{port}";

    public ValueTask DisposeAsync() => new(control.RemoveAsync());

    /// <summary>Another server can take the port before this one does.</summary>
    private async Task<bool> StartAsync(ClusterFolder folder)
    {
        for (var attempt = 1; attempt <= PortAttempts; attempt++)
        {
            port = LoopbackPorts.Free(1)[0];
            await File.WriteAllTextAsync(Path.Combine(folder.Data, "kit.conf"), ClusterSettings.For(port));
            if (await control.TryStartAsync(CancellationToken.None))
                return true;
            if (!control.LogEnd.Contains("Address already in use", StringComparison.Ordinal))
                break;
        }

        return false;
    }

    private static void Succeed(ProgramResult result) => Assert.That(result.Succeeded, Is.True, result.Output);
}
