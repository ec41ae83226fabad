using System.Diagnostics;
using System.Globalization;
using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>Creates, starts, stops and removes the server of one cluster folder, as the user that the server runs as.</summary>
/// <param name="user">See <see cref="UnprivilegedUser"/>; <see langword="null"/>: our own.</param>
public sealed class ClusterControl(PostgreSqlBinaries binaries, ClusterFolder folder, string? user)
{
    // After an immediate stop the server first replays its log, at most max_wal_size.
    private static readonly TimeSpan StartDeadline = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan StopDeadline = TimeSpan.FromMinutes(2);

    /// <summary>The last lines of the server's log, as one line for a message.</summary>
    public string LogEnd => LogLines.EndOfFile(folder.Log);

    /// <exception cref="KitException">The cluster cannot be created; the message ends with the output of <c>initdb</c>.</exception>
    public async Task InitializeAsync(string superuser, string password, CancellationToken cancellationToken)
    {
        await File.WriteAllTextAsync(folder.Password, password, cancellationToken);
        MustSucceed(await folder.Owned.HandOverAsync(user, cancellationToken));
        MustSucceed(await RunAsync(
            "initdb",
            [
                "--pgdata", folder.Data, "--username", superuser, "--pwfile", folder.Password, "--auth", "scram-sha-256",
                "--encoding", "UTF8", "--locale", "C",
            ],
            cancellationToken));
        File.Delete(folder.Password);
    }

    /// <summary>Starts the server and waits until it answers. False if it does not; <see cref="LogEnd"/> then has the reason.</summary>
    /// <remarks>
    /// A start is not cancelled half-way: the server could not be stopped, as it has no <c>postmaster.pid</c> yet. pg_ctl starts it in a session
    /// of its own, so that Ctrl+C on the terminal does not stop it before we do.
    /// </remarks>
    public async Task<bool> TryStartAsync(CancellationToken cancellationToken)
    {
        cancellationToken.ThrowIfCancellationRequested();
        var start = await RunAsync(
            "pg_ctl",
            ["start", "--wait", "--timeout", Seconds(StartDeadline), "--pgdata", folder.Data, "--log", folder.Log],
            CancellationToken.None);
        cancellationToken.ThrowIfCancellationRequested();
        return start.Succeeded;
    }

    /// <summary>Stops the server if it runs, and waits for its end.</summary>
    /// <exception cref="KitException">It does not stop.</exception>
    public async Task StopAsync(StopMode mode, CancellationToken cancellationToken)
    {
        if (Postmaster.RunningIn(folder.Data) is null)
            return;
        var stop = await RunAsync(
            "pg_ctl",
            ["stop", "--wait", "--timeout", Seconds(StopDeadline), "--mode", mode is StopMode.Fast ? "fast" : "immediate", "--pgdata", folder.Data],
            cancellationToken);
        if (Postmaster.RunningIn(folder.Data) is { } id)
            throw new KitException(
                $"The private PostgreSQL server does not stop: {LogLines.EndOf(stop.Output.Split('\n'))}",
                $"Its postmaster is process {id}, its log is {folder.Log}.");
    }

    /// <summary>Kills every process of the server at once, as the kernel does when memory runs out. Does nothing if it does not run.</summary>
    public void Kill()
    {
        if (Postmaster.RunningIn(folder.Data) is not { } id)
            return;

        using var postmaster = Process.GetProcessById(id);
        postmaster.Kill(entireProcessTree: true);
    }

    /// <summary>Stops the server without a checkpoint and deletes its folder. Cannot be cancelled: Ctrl+C leads here.</summary>
    /// <inheritdoc cref="StopAsync" path="/exception"/>
    public async Task RemoveAsync()
    {
        await StopOrKillAsync();
        await folder.Owned.DeleteAsync();
    }

    private async Task StopOrKillAsync()
    {
        try
        {
            await StopAsync(StopMode.Immediate, CancellationToken.None);
        }
        catch (KitException)
        {
            // pg_ctl stops no server whose folder somebody has cleared.
            Kill();
        }
    }

    private Task<ProgramResult> RunAsync(string name, IEnumerable<string> arguments, CancellationToken cancellationToken) =>
        new ExternalProgram(binaries.PathOf(name), user, folder.Server).RunAsync(arguments, cancellationToken);

    private void MustSucceed(ProgramResult result)
    {
        if (!result.Succeeded)
            throw new KitException(
                $"The private PostgreSQL cluster cannot be created in {folder.Server}: {LogLines.EndOf(result.Output.Split('\n'))}",
                result.Output.Contains("effective user ID", StringComparison.Ordinal)
                    ? "Run as a user that has a name: one with an entry in /etc/passwd."
                    : OwnedFolder.Remedy);
    }

    private static string Seconds(TimeSpan time) => ((int)time.TotalSeconds).ToString(CultureInfo.InvariantCulture);
}
