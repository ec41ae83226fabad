using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Npgsql;

namespace Kit.Runner.Faults.Injections;

/// <summary>The server with the rows turns read-only when the handler has the chosen message, and back after a while.</summary>
internal sealed class ServerReadOnly : OneMessage
{
    /// <summary>Longer than three attempts, also if an endpoint waits for 1 s and 2 s between them.</summary>
    private static readonly TimeSpan Length = TimeSpan.FromSeconds(5);

    // Before it asks for its connection, so that its transaction begins later.
    public override HandlerScript Script { get; } =
        new(ScriptedAct.Once(AttemptPoint.Started, new ReceiveLost.WaitForRunner("waits until its server is read-only")));

    public override bool NeedsTheServersAlone => true;

    public override bool MayHideWork => true;

    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        if (!await scene.UntilAsync(() => Task.FromResult(scene.Failures() > 0), cancellationToken))
            return false;

        bool hasInserted;
        await using (await ReadOnlyTime.BeginAsync(scene.Servers.WidgetsOf(scene.Cell).ConnectionString, cancellationToken))
        {
            scene.Testbed.LetGoOfAll();
            await Task.Delay(Length, cancellationToken);
            // A transaction that had begun before is not refused.
            hasInserted = scene.Testbed.Journal.LinesOf(scene.Chosen).Any(line => line.Point is AttemptPoint.AfterFirstInsert);
        }

        scene.Tell(
            $"the database server was read-only for {Length.TotalSeconds} s, from a moment when the handler had the message, and " +
            (hasInserted ? "took its row all the same" : "took no row of it"));
        return !hasInserted;
    }
}

/// <summary>
/// A time in which transactions of a server are read-only when they begin, as a provider makes a server whose disk is full. Those that have begun go on.
/// Disposing ends it.
/// </summary>
internal sealed class ReadOnlyTime : IAsyncDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(25);

    private readonly NpgsqlDataSource source;

    // Without a pool: a new session has the settings that the server has read last.
    private ReadOnlyTime(string server) =>
        source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(server) { Pooling = false }.ConnectionString);

    /// <exception cref="NpgsqlException">The server cannot be reached, or refuses.</exception>
    public static async Task<ReadOnlyTime> BeginAsync(string server, CancellationToken cancellationToken)
    {
        var begun = new ReadOnlyTime(server);
        try
        {
            await begun.SetAsync("SET default_transaction_read_only = on", "on", cancellationToken);
            return begun;
        }
        catch
        {
            await begun.DisposeAsync();
            throw;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await SetAsync("RESET default_transaction_read_only", "off", CancellationToken.None);
        await source.DisposeAsync();
    }

    private async Task SetAsync(string change, string expected, CancellationToken cancellationToken)
    {
        await using (var alter = source.CreateCommand($"ALTER SYSTEM {change}"))
            await alter.ExecuteNonQueryAsync(cancellationToken);
        await using (var reload = source.CreateCommand("SELECT pg_reload_conf()"))
            await reload.ExecuteNonQueryAsync(cancellationToken);

        // The server has told its sessions by the time a new one has the setting. They obey it from their next transaction on.
        while (await ReadAsync(cancellationToken) != expected)
            await Task.Delay(Pause, cancellationToken);
    }

    private async Task<string> ReadAsync(CancellationToken cancellationToken)
    {
        await using var show = source.CreateCommand("SHOW default_transaction_read_only");
        return (string)(await show.ExecuteScalarAsync(cancellationToken))!;
    }
}
