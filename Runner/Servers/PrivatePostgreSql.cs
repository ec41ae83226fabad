using System.Security.Cryptography;
using Kit.Runner.Results;
using Npgsql;

namespace Kit.Runner.Servers;

/// <summary>
/// A throw-away PostgreSQL cluster of this process, from the machine's own programs: on a free loopback port, with a random password,
/// with durability on. Disposing stops it and deletes its folder; the next start removes the leftovers of a crash.
/// </summary>
public sealed class PrivatePostgreSql : IAsyncDisposable
{
    private const int StartsAfterKill = 25;

    private static readonly TimeSpan BetweenStarts = TimeSpan.FromMilliseconds(200);

    private const string Superuser = "kit";
    private const int PortAttempts = 5;

    private readonly ClusterFolder folder;
    private readonly ClusterControl control;
    private readonly int connections;
    private readonly string password = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16));
    private int port;

    private PrivatePostgreSql(ClusterFolder folder, ClusterControl control, Version version, int connections) =>
        (this.folder, this.control, Version, this.connections) = (folder, control, version, connections);

    /// <summary>
    /// Connects to the database <c>postgres</c> as superuser. It contains the password; show it only through <see cref="ConnectionStrings.Mask"/>.
    /// </summary>
    public string ConnectionString => new NpgsqlConnectionStringBuilder
    {
        Host = "127.0.0.1",
        Port = port,
        Username = Superuser,
        Password = password,
        Database = "postgres",
    }.ConnectionString;

    public string DataFolder => folder.Data;

    public Version Version { get; }

    /// <summary>The parent of all the server's processes; a new one after each restart.</summary>
    /// <exception cref="InvalidOperationException">The server is stopped.</exception>
    public int PostmasterPid =>
        Postmaster.RunningIn(DataFolder) ?? throw new InvalidOperationException("The private PostgreSQL server is stopped.");

    /// <summary>Removes leftovers of crashed runs, then starts a cluster in a <see cref="ServerPlace"/> that may be in memory.</summary>
    /// <exception cref="KitException">
    /// No server programs, no folder that can be written to, a full disk, or the server does not start; then the message has its last log lines.
    /// </exception>
    public static Task<PrivatePostgreSql> StartAsync(CancellationToken cancellationToken) =>
        StartAsync(ServerPlace.Choose(allowsMemory: true).Path, cancellationToken);

    /// <summary>Starts a cluster under a folder of the caller's choice.</summary>
    /// <inheritdoc cref="StartAsync(CancellationToken)" path="/exception"/>
    public static Task<PrivatePostgreSql> StartAsync(string parent, CancellationToken cancellationToken) =>
        StartAsync(parent, ClusterSettings.Connections, cancellationToken);

    /// <summary>Starts a cluster for more or fewer connections than the server's own default.</summary>
    /// <inheritdoc cref="StartAsync(CancellationToken)" path="/exception"/>
    public static async Task<PrivatePostgreSql> StartAsync(string parent, int connections, CancellationToken cancellationToken)
    {
        // The server is found again by the exact path with which it was started.
        parent = Path.TrimEndingDirectorySeparator(Path.GetFullPath(parent));
        var binaries = await PostgreSqlBinaries.FindAsync(cancellationToken);
        var user = await UnprivilegedUser.FindAsync("PostgreSQL", "postgres", cancellationToken);
        foreach (var leftover in ClusterFolder.Leftovers(parent))
            await OwnedFolder.TryRemoveAsync(() => new ClusterControl(binaries, leftover, user).RemoveAsync());

        var own = ClusterFolder.Create(parent);
        var server = new PrivatePostgreSql(own, new ClusterControl(binaries, own, user), binaries.Version, connections);
        try
        {
            await own.Owned.WriteAsync("private PostgreSQL cluster", () => server.MakeAndStartAsync(cancellationToken));
            return server;
        }
        catch
        {
            await server.control.RemoveAsync();
            throw;
        }
    }

    /// <summary>Stops without a checkpoint, as a crash of the server would: connections break, memory is lost, the log stays.</summary>
    /// <exception cref="KitException">The server does not stop.</exception>
    public Task StopImmediatelyAsync(CancellationToken cancellationToken) => control.StopAsync(StopMode.Immediate, cancellationToken);

    /// <summary>Kills every process of the server (SIGKILL): unwritten data is lost, and no process cleans up.</summary>
    public void Kill() => control.Kill();

    /// <summary>Starts again after <see cref="Kill"/>, when the last process of the killed server has gone.</summary>
    /// <exception cref="KitException">The server does not start; with its last log lines.</exception>
    public async Task StartAfterKillAsync(CancellationToken cancellationToken)
    {
        // A process that is not gone yet holds the shared memory, and a new server refuses to start next to it.
        for (var attempt = 0; attempt < StartsAfterKill; attempt++)
        {
            if (await control.TryStartAsync(cancellationToken))
                return;
            await Task.Delay(BetweenStarts, cancellationToken);
        }

        throw DidNotStart();
    }

    /// <summary>Starts again on the same port; stops first if it runs.</summary>
    /// <exception cref="KitException">The server does not stop, or does not start; then the message has its last log lines.</exception>
    public async Task RestartAsync(CancellationToken cancellationToken)
    {
        await control.StopAsync(StopMode.Fast, cancellationToken);
        if (!await control.TryStartAsync(cancellationToken))
            throw DidNotStart();
    }

    public ValueTask DisposeAsync() => new(control.RemoveAsync());

    private async Task MakeAndStartAsync(CancellationToken cancellationToken)
    {
        await control.InitializeAsync(Superuser, password, cancellationToken);
        await File.AppendAllTextAsync(Path.Combine(DataFolder, "postgresql.conf"), "\ninclude 'kit.conf'\n", cancellationToken);
        await StartOnFreePortAsync(cancellationToken);
    }

    private async Task StartOnFreePortAsync(CancellationToken cancellationToken)
    {
        // Another process can take the port before the server does; then we look for another port.
        for (var attempt = 1; attempt <= PortAttempts; attempt++)
        {
            port = LoopbackPorts.Free(1)[0];
            await WriteSettingsAsync(cancellationToken);
            if (await control.TryStartAsync(cancellationToken))
                return;
            if (!control.LogEnd.Contains("Address already in use", StringComparison.Ordinal))
                break;
        }

        throw DidNotStart();
    }

    private async Task WriteSettingsAsync(CancellationToken cancellationToken)
    {
        var file = Path.Combine(DataFolder, "kit.conf");
        await File.WriteAllTextAsync(file, ClusterSettings.For(port, connections), cancellationToken);
        // If root wrote it, the server's user must be able to read it, with any umask; its folder is closed to others.
        if (!OperatingSystem.IsWindows())
            File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.GroupRead | UnixFileMode.OtherRead);
    }

    private KitException DidNotStart() => new(
        $"PostgreSQL {Version} does not start in {DataFolder}. Its log ends: {control.LogEnd}",
        $"Fix what the log names, or name a server to use with --postgresql or {ConnectionStrings.PostgreSqlVariable}.");
}
