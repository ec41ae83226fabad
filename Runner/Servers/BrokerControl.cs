using System.Text.RegularExpressions;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>Starts, stops and removes the broker of one folder and its port mapper.</summary>
/// <param name="user">The user that both run as, see <see cref="UnprivilegedUser"/>; <see langword="null"/>: our own.</param>
public sealed partial class BrokerControl(BrokerFolder folder, string? user)
{
    // With the management plugin a broker needs seven seconds to end. It closes its connections first; the rest does not matter when its
    // folder is deleted.
    private static readonly TimeSpan RestartPatience = TimeSpan.FromMinutes(1);
    private static readonly TimeSpan RemovalPatience = TimeSpan.FromSeconds(1);

    private ServerProcess Broker => new(folder.BrokerPid, folder.Server);

    private ServerProcess PortMapper => new(folder.PortMapperPid, folder.Server);

    /// <summary>The last lines of the broker's log, as one line for a message.</summary>
    /// <remarks>A broker that does not start gives the reason in the first errors on its output; Erlang's supervisors repeat it at length.</remarks>
    public string LogEnd
    {
        get
        {
            var errors = Output
                .Select(line => Error().Match(line).Groups["text"].Value.Trim())
                .Where(text => text.Any(char.IsLower))
                .TakeWhile(text => !text.StartsWith("supervisor:", StringComparison.Ordinal))
                .ToList();
            return LogLines.EndOf(errors.Count > 0 ? errors : Output);
        }
    }

    /// <summary>True if the broker did not start because one of its ports is taken.</summary>
    public bool IsPortTaken =>
        Output.Any(line => line.Contains("eaddrinuse", StringComparison.Ordinal) || line.Contains("in use by another", StringComparison.Ordinal));

    private string[] Output => File.Exists(folder.Output) ? File.ReadAllLines(folder.Output) : [];

    /// <summary>Both processes, for CPU accounting; only those that run.</summary>
    public async Task<IReadOnlyList<int>> FindProcessesAsync() =>
        [.. new[] { await Broker.FindAsync(), await PortMapper.FindAsync() }.OfType<ProcessIdentity>().Select(process => process.Id)];

    /// <inheritdoc cref="ServerProcess.FindAsync"/>
    public async Task<int?> FindBrokerAsync() => (await Broker.FindAsync())?.Id;

    /// <summary>Writes the files of a new broker and gives them to its user.</summary>
    /// <exception cref="KitException">The folder cannot be given to that user.</exception>
    /// <exception cref="IOException">The folder cannot be written, or its disk is full.</exception>
    public async Task WriteAsync(BrokerPorts ports, string definitions, string cookie, string portMapperProgram, CancellationToken cancellationToken)
    {
        Directory.CreateDirectory(folder.Home);
        Directory.CreateDirectory(folder.Data);
        await File.WriteAllTextAsync(folder.Settings, BrokerSettings.For(folder, ports), cancellationToken);
        await File.WriteAllTextAsync(folder.Definitions, definitions, cancellationToken);
        await File.WriteAllTextAsync(folder.Plugins, "[rabbitmq_management].\n", cancellationToken);
        if (!File.Exists(folder.PortMapper))
            File.CreateSymbolicLink(folder.PortMapper, portMapperProgram);
        if (!File.Exists(folder.Cookie))
            await File.WriteAllTextAsync(folder.Cookie, cookie, cancellationToken);
        // Erlang refuses a cookie that others can read. The other files are in a folder that is closed to others, and need not be readable.
        if (!OperatingSystem.IsWindows())
        {
            foreach (var file in new[] { folder.Settings, folder.Definitions, folder.Plugins, folder.Cookie })
                File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        }

        var handedOver = await folder.Owned.HandOverAsync(user, cancellationToken);
        if (!handedOver.Succeeded)
            throw new KitException(
                $"The private RabbitMQ broker's folder {folder.Server} cannot be given to {user}: {handedOver.Output}", OwnedFolder.Remedy);
    }

    /// <summary>Starts both processes. The broker answers a few seconds later.</summary>
    /// <exception cref="KitException">One of them cannot be started.</exception>
    public async Task StartAsync(RabbitMqBinaries binaries, BrokerPorts ports)
    {
        var environment = BrokerSettings.Environment(folder, ports);
        if (await PortMapper.FindAsync() is null)
            await new ExternalProgram(folder.PortMapper, user, folder.Server, environment).StartServerAsync(
                folder.PortMapperPid, folder.PortMapperOutput, ["-port", $"{ports.PortMapper}", "-address", "127.0.0.1"]);
        // The script ignores the arguments: they mark the process as this folder's from the start.
        await new ExternalProgram(binaries.PathOf("rabbitmq-server"), user, folder.Server, environment).StartServerAsync(
            folder.BrokerPid, folder.Output, ["-kit", folder.Server]);
    }

    /// <summary>Runs <c>rabbitmqctl</c> on the broker.</summary>
    /// <exception cref="KitException">It fails.</exception>
    public async Task ControlAsync(RabbitMqBinaries binaries, BrokerPorts ports, IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        var command = new ExternalProgram(binaries.PathOf("rabbitmqctl"), user, folder.Server, BrokerSettings.Environment(folder, ports));
        var result = await command.RunAsync(arguments, cancellationToken);
        if (!result.Succeeded)
            throw new KitException($"rabbitmqctl failed on the private RabbitMQ broker in {folder.Server}: {result.Output}", $"Its log is {folder.Log}.");
    }

    /// <summary>Stops the broker if it runs, and waits for its end. Its port mapper stays.</summary>
    /// <exception cref="KitException">It does not end even when it is killed.</exception>
    public Task StopAsync(StopMode mode) => EndAsync(Broker, mode is StopMode.Immediate ? TimeSpan.Zero : RestartPatience);

    /// <summary>Kills both processes, for another start on other ports.</summary>
    /// <inheritdoc cref="StopAsync" path="/exception"/>
    public async Task KillAsync()
    {
        await EndAsync(Broker, TimeSpan.Zero);
        await EndAsync(PortMapper, TimeSpan.Zero);
    }

    /// <summary>Stops both processes and deletes their folder. Cannot be cancelled: Ctrl+C leads here.</summary>
    /// <inheritdoc cref="StopAsync" path="/exception"/>
    public async Task RemoveAsync(StopMode mode)
    {
        var patience = mode is StopMode.Immediate ? TimeSpan.Zero : RemovalPatience;
        await EndAsync(Broker, patience);
        await EndAsync(PortMapper, patience);
        await folder.Owned.DeleteAsync();
    }

    private async Task EndAsync(ServerProcess process, TimeSpan patience)
    {
        if (!await process.EndAsync(patience))
            throw new KitException(
                $"The private RabbitMQ broker in {folder.Server} does not stop.",
                $"Its processes are {string.Join(" and ", await FindProcessesAsync())}, its log is {folder.Log}.");
    }

    // 2026-11-21 10:40:40.239965+00:00 [error] <0.132.0> text
    [GeneratedRegex(@"^[^\[]*\[error\] <[\d.]+> (?<text>.*)$", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1000)]
    private static partial Regex Error();
}
