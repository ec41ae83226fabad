using System.Globalization;
using System.Net.Sockets;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Tests;

/// <summary>A PgBouncer of one test, on a loopback port, between the endpoints and the tests' PostgreSQL server.</summary>
internal sealed class PrivatePgBouncer : IAsyncDisposable
{
    private const string Prefix = "kit-pgbouncer-";

    private readonly NpgsqlConnectionStringBuilder server;
    private readonly int poolSize;
    private readonly bool isOldestFirst;
    private readonly string ignoredParameters;
    private readonly OwnedFolder folder;
    private readonly int port = LoopbackPorts.Free(1)[0];

    private PrivatePgBouncer(string server, int poolSize, bool isOldestFirst, string ignoredParameters, OwnedFolder folder)
    {
        this.server = new NpgsqlConnectionStringBuilder(server);
        this.poolSize = poolSize;
        this.isOldestFirst = isOldestFirst;
        this.ignoredParameters = ignoredParameters;
        this.folder = folder;
    }

    private string Settings => Path.Combine(folder.Server, "pgbouncer.ini");

    private string Users => Path.Combine(folder.Server, "users");

    private string Log => Path.Combine(folder.Server, "log");

    private ServerProcess Process => ProcessOf(folder);

    /// <summary>Starts one; the test is ignored, with the reason, on a machine without PgBouncer.</summary>
    /// <param name="server">Connection string of the server behind it.</param>
    /// <param name="mode">Its <c>pool_mode</c>.</param>
    /// <param name="poolSize">The server connections of one user to one database.</param>
    /// <param name="isOldestFirst">Whether it lends the connection that came back first, not the last.</param>
    /// <param name="ignoredParameters">Its <c>ignore_startup_parameters</c>.</param>
    public static async Task<PrivatePgBouncer> StartAsync(
        string server, string mode, int poolSize = 20, bool isOldestFirst = false, string ignoredParameters = "")
    {
        var program = FindProgram();
        if (program is null)
            Assert.Ignore("This machine has no PgBouncer (on Debian and Ubuntu: apt-get install pgbouncer).");

        foreach (var leftover in OwnedFolder.Leftovers(Path.GetTempPath(), Prefix))
            await RemoveAsync(leftover);

        var user = await UnprivilegedUser.FindAsync("PgBouncer", "postgres", CancellationToken.None);
        var own = OwnedFolder.Create(Path.GetTempPath(), Prefix, "private PgBouncer");
        var bouncer = new PrivatePgBouncer(server, poolSize, isOldestFirst, ignoredParameters, own);
        await bouncer.WriteAsync(mode);
        await File.WriteAllTextAsync(bouncer.Users, $"\"{bouncer.server.Username}\" \"{bouncer.server.Password}\"\n");
        Assert.That((await own.HandOverAsync(user, CancellationToken.None)).Succeeded, "the folder is PgBouncer's");
        await new ExternalProgram(program!, user, own.Server).StartServerAsync(PidFile(own), bouncer.Log, [bouncer.Settings]);
        await Eventually.HoldsAsync(bouncer.AnswersAsync, "PgBouncer answers");
        return bouncer;
    }

    /// <summary>The same database, through the pooler.</summary>
    public string ConnectionTo(string connectionString) =>
        new NpgsqlConnectionStringBuilder(connectionString) { Host = "127.0.0.1", Port = port }.ConnectionString;

    /// <summary>Gives it another <c>pool_mode</c> while it runs, as an administrator does: edit, reload.</summary>
    public async Task ReloadAsync(string mode)
    {
        await WriteAsync(mode);
        var process = (await Process.FindAsync())!;
        await new ExternalProgram("/bin/sh").RunAsync(["-c", $"kill -s HUP {process.Id}"], CancellationToken.None);
        await Eventually.HoldsAsync(
            async () => (await File.ReadAllTextAsync(Log)).Contains("SIGHUP", StringComparison.Ordinal),
            "PgBouncer has read its settings again");
    }

    public async ValueTask DisposeAsync() => await RemoveAsync(folder);

    private static async Task RemoveAsync(OwnedFolder folder)
    {
        await ProcessOf(folder).EndAsync(TimeSpan.Zero);
        await folder.DeleteAsync();
    }

    private static string PidFile(OwnedFolder folder) => Path.Combine(folder.Server, "pid");

    private static ServerProcess ProcessOf(OwnedFolder folder) => new(PidFile(folder), folder.Server);

    // Debian puts it where only root's search path leads.
    private static string? FindProgram() =>
        ExternalProgram.OnSearchPath("pgbouncer") ?? new[] { "/usr/sbin/pgbouncer" }.FirstOrDefault(File.Exists);

    private Task WriteAsync(string mode) => File.WriteAllTextAsync(
        Settings,
        string.Create(CultureInfo.InvariantCulture, $"""
            [databases]
            * = host={server.Host} port={server.Port}
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = {port}
            unix_socket_dir =
            auth_type = scram-sha-256
            auth_file = {Users}
            pool_mode = {mode}
            default_pool_size = {poolSize}
            server_round_robin = {(isOldestFirst ? 1 : 0)}
            ignore_startup_parameters = {ignoredParameters}

            """));

    private async Task<bool> AnswersAsync()
    {
        using var socket = new TcpClient();
        try
        {
            await socket.ConnectAsync("127.0.0.1", port);
            return true;
        }
        catch (SocketException)
        {
            Assert.That(await Process.FindAsync(), Is.Not.Null, () => $"PgBouncer runs: {File.ReadAllText(Log)}");
            return false;
        }
    }
}
