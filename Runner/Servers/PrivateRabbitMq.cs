using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>
/// A throw-away RabbitMQ broker of this process, from the machine's own programs: on free loopback ports, with a random password, with
/// durability on and the management plugin. Disposing stops it and deletes its folder; the next start removes the leftovers of a crash.
/// </summary>
public sealed class PrivateRabbitMq : IAsyncDisposable
{
    private const string User = "kit";
    private const string VirtualHost = "kit";
    private const int PortAttempts = 3;

    // Enough for a busy machine, and for a broker that recovers its data.
    private static readonly TimeSpan StartDeadline = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(50);

    private readonly BrokerFolder folder;
    private readonly BrokerControl control;
    private readonly RabbitMqBinaries binaries;
    private readonly string password = NewSecret();
    private BrokerPorts ports = null!;

    private PrivateRabbitMq(BrokerFolder folder, BrokerControl control, RabbitMqBinaries binaries) =>
        (this.folder, this.control, this.binaries) = (folder, control, binaries);

    /// <summary>Support for a broker of the kit's own on this platform.</summary>
    public static Support Support { get; } = OperatingSystem.IsWindows()
        ? Support.Missing("on Windows the kit cannot start its own RabbitMQ broker; name one with --rabbitmq")
        : Support.Yes;

    /// <summary>The doctor's finding about its programs.</summary>
    /// <param name="isNeeded">False if a broker is named.</param>
    /// <param name="without">What cannot be done without them, as a sentence.</param>
    public static Finding Examine(bool isNeeded, string without)
    {
        const string what = "RabbitMQ programs";
        if (Support.Because is { } reason)
            return new Finding(what, isNeeded ? $"not used: {reason}" : "none needed: a broker is named");
        try
        {
            var found = RabbitMqBinaries.Find();
            return new Finding(what, $"{found.Version} in {found.Folder}");
        }
        catch (KitException missing)
        {
            return isNeeded
                ? new Finding(what, "none usable", $"{missing.Message} {without}", missing.Remedy)
                : new Finding(what, "none usable, and none needed: a broker is named");
        }
    }

    /// <summary>Support for a broker of the kit's own on this machine: the platform allows it, and the programs are installed.</summary>
    public static Support FindSupport()
    {
        try
        {
            if (Support.IsSupported)
                RabbitMqBinaries.Find();

            return Support;
        }
        catch (KitException missing)
        {
            return Support.Missing($"{missing.Message} {missing.Remedy}".TrimEnd('.'));
        }
    }

    /// <summary>
    /// The address for a user with all permissions, in an existing virtual host. Contains the password; show it only through
    /// <see cref="ConnectionStrings.Mask"/>.
    /// </summary>
    public Uri AmqpUri => new($"amqp://{User}:{password}@127.0.0.1:{ports.Amqp}/{VirtualHost}");

    /// <summary>The management plugin's address, without user and password; they are those of <see cref="AmqpUri"/>.</summary>
    public Uri ManagementUri => new($"http://127.0.0.1:{ports.Management}/");

    /// <summary>The AMQP and the management address.</summary>
    public RabbitMqAddress Address => RabbitMqAddress.Parse(AmqpUri.AbsoluteUri, ManagementUri.AbsoluteUri);

    /// <summary>The folder of all the broker's files.</summary>
    public string Folder => folder.Server;

    public Version Version => binaries.Version;

    /// <summary>Duration of the last start, from the first program to the first answers over AMQP and HTTP.</summary>
    public TimeSpan StartTime { get; private set; }

    /// <summary>The broker's process; a new one after each restart.</summary>
    /// <exception cref="InvalidOperationException">The broker is stopped.</exception>
    public async Task<int> FindBrokerPidAsync() =>
        await control.FindBrokerAsync() ?? throw new InvalidOperationException("The private RabbitMQ broker is stopped.");

    /// <summary>The processes whose CPU time, with their descendants', is the broker's: the broker and its port mapper.</summary>
    public Task<IReadOnlyList<int>> FindPidsAsync() => control.FindProcessesAsync();

    /// <summary>Removes leftovers of crashed runs, then starts a broker in a <see cref="ServerPlace"/> that may be in memory.</summary>
    /// <exception cref="KitException">
    /// Windows, no broker programs, no folder that can be written to, a full disk, or the broker does not start; then the message has its last log lines.
    /// </exception>
    public static Task<PrivateRabbitMq> StartAsync(CancellationToken cancellationToken) =>
        StartAsync(ServerPlace.Choose(allowsMemory: true).Path, cancellationToken);

    /// <summary>Starts a broker under a folder of the caller's choice.</summary>
    /// <inheritdoc cref="StartAsync(CancellationToken)" path="/exception"/>
    public static async Task<PrivateRabbitMq> StartAsync(string parent, CancellationToken cancellationToken)
    {
        if (Support.Because is { } reason)
            throw new KitException($"No broker: {reason}.", $"Name a broker with --rabbitmq or {ConnectionStrings.RabbitMqVariable}.");
        // The broker is found again by the exact path with which it was started.
        parent = Path.TrimEndingDirectorySeparator(Path.GetFullPath(parent));
        var found = RabbitMqBinaries.Find();
        var user = await UnprivilegedUser.FindAsync("RabbitMQ", "rabbitmq", cancellationToken);
        foreach (var leftover in BrokerFolder.Leftovers(parent))
            await OwnedFolder.TryRemoveAsync(() => new BrokerControl(leftover, user).RemoveAsync(StopMode.Immediate));

        var own = BrokerFolder.Create(parent);
        var broker = new PrivateRabbitMq(own, new BrokerControl(own, user), found);
        try
        {
            await own.Owned.WriteAsync("private RabbitMQ broker", () => broker.StartOnFreePortsAsync(cancellationToken));
            return broker;
        }
        catch
        {
            await broker.control.RemoveAsync(StopMode.Immediate);
            throw;
        }
    }

    /// <summary>Ends the broker like a crash: connections break; every confirmed message is on the disk.</summary>
    /// <exception cref="KitException">The broker does not end.</exception>
    public Task StopImmediatelyAsync() => control.StopAsync(StopMode.Immediate);

    /// <summary>Starts again on the same ports and data; stops first if it runs.</summary>
    /// <exception cref="KitException">The broker does not stop, or does not start; then the message has its last log lines.</exception>
    public async Task RestartAsync(CancellationToken cancellationToken)
    {
        await control.StopAsync(StopMode.Fast);
        File.Delete(folder.Output);
        if (!await TryStartAsync(cancellationToken))
            throw DidNotStart();
    }

    /// <summary>Runs <c>rabbitmqctl</c> on the broker.</summary>
    /// <exception cref="KitException">It fails.</exception>
    public Task ControlAsync(IEnumerable<string> arguments, CancellationToken cancellationToken) =>
        control.ControlAsync(binaries, ports, arguments, cancellationToken);

    public ValueTask DisposeAsync() => new(control.RemoveAsync(StopMode.Fast));

    private async Task StartOnFreePortsAsync(CancellationToken cancellationToken)
    {
        var definitions = BrokerSettings.Definitions(User, password, VirtualHost);
        var cookie = NewSecret();
        // Another process can take a port before the broker does; then we look for other ports.
        for (var attempt = 1; attempt <= PortAttempts; attempt++)
        {
            ports = BrokerPorts.Free();
            await control.WriteAsync(ports, definitions, cookie, binaries.PortMapper, cancellationToken);
            if (await TryStartAsync(cancellationToken))
                return;
            if (!control.IsPortTaken)
                break;
            await control.KillAsync();
        }

        throw DidNotStart();
    }

    private async Task<bool> TryStartAsync(CancellationToken cancellationToken)
    {
        var watch = Stopwatch.StartNew();
        await control.StartAsync(binaries, ports);
        while (!await AnswersAsync(cancellationToken))
        {
            if (await control.FindBrokerAsync() is null || watch.Elapsed > StartDeadline)
                return false;
            await Task.Delay(Pause, cancellationToken);
        }

        StartTime = watch.Elapsed;
        return true;
    }

    private async Task<bool> AnswersAsync(CancellationToken cancellationToken)
    {
        if (!await ListensAsync(ports.Amqp, cancellationToken))
            return false;
        try
        {
            await RabbitMqFacts.ReadVersionAsync(Address, cancellationToken);
        }
        catch (KitException)
        {
            // A broker that listens can still reset connections while many endpoints of an earlier start reconnect.
            return false;
        }

        using var management = new ManagementApi(Address);
        return await management.WhyAbsentAsync(cancellationToken) is null;
    }

    private static async Task<bool> ListensAsync(int port, CancellationToken cancellationToken)
    {
        using var socket = new TcpClient();
        try
        {
            await socket.ConnectAsync(IPAddress.Loopback, port, cancellationToken);
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }

    private KitException DidNotStart() => new(
        $"RabbitMQ {Version} does not start in {folder.Server}. Its log ends: {control.LogEnd}",
        $"Fix what the log names, or name a broker to use with --rabbitmq or {ConnectionStrings.RabbitMqVariable}.");

    private static string NewSecret() => Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(16));
}
