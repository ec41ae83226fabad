using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>A running copy of a private server, made by <c>pg_basebackup</c>: the same system identifier and rows.</summary>
internal sealed class PrivateClone : IAsyncDisposable
{
    private readonly ClusterControl control;
    private readonly int port;

    private PrivateClone(ClusterControl control, int port)
    {
        this.control = control;
        this.port = port;
    }

    public static async Task<PrivateClone> OfAsync(PrivatePostgreSql server)
    {
        var origin = new NpgsqlConnectionStringBuilder(server.ConnectionString);
        var binaries = await PostgreSqlBinaries.FindAsync(CancellationToken.None);
        var user = await UnprivilegedUser.FindAsync("PostgreSQL", "postgres", CancellationToken.None);
        var folder = ClusterFolder.Create(Path.GetTempPath());
        var clone = new PrivateClone(new ClusterControl(binaries, folder, user), LoopbackPorts.Free(1)[0]);
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
            await File.WriteAllTextAsync(Path.Combine(folder.Data, "kit.conf"), ClusterSettings.For(clone.port));
            var hasStarted = await clone.control.TryStartAsync(CancellationToken.None);
            Assert.That(hasStarted, Is.True, () => $"the clone starts: {clone.control.LogEnd}");
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

    public ValueTask DisposeAsync() => new(control.RemoveAsync(StopMode.Immediate));

    private static void Succeed(ProgramResult result) => Assert.That(result.Succeeded, Is.True, result.Output);
}
