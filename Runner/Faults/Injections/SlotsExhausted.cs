using Npgsql;

namespace Kit.Runner.Faults.Injections;

/// <summary>Another application holds every prepared transaction that the server allows while the chosen message is in the queue.</summary>
internal sealed class SlotsExhausted : OneMessage
{
    /// <summary>Longer than a handler needs for three attempts.</summary>
    private static readonly TimeSpan Time = TimeSpan.FromSeconds(3);

    private HeldSlots? slots;

    public override bool NeedsTheServersAlone => true;

    protected override async Task ArmAsync(FaultScene scene, CancellationToken cancellationToken) =>
        slots = scene.Keep(await HeldSlots.TakeAllAsync(scene.Servers.WidgetsOf(scene.Cell).ConnectionString, cancellationToken));

    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        await Task.Delay(Time, cancellationToken);
        // A slot that came free meanwhile let the message through.
        var isHeld = await scene.Testbed.Database.AskAsync<bool>(
            $"""
            SELECT (SELECT count(*) FROM pg_prepared_xacts) = current_setting('max_prepared_transactions')::int
                AND NOT EXISTS (SELECT FROM widget WHERE message_id = '{scene.Chosen}')
            """,
            cancellationToken);
        scene.Tell($"another application held {slots!.Count} prepared transactions for {Time.TotalSeconds} s, and {(isHeld ? "none" : "one")} was free");
        await slots.DisposeAsync();
        return isHeld;
    }
}

/// <summary>Every prepared transaction that a server still allows, held by another application than the endpoint.</summary>
internal sealed class HeldSlots : IAsyncDisposable
{
    private readonly NpgsqlDataSource source;
    private readonly List<string> held = [];

    private HeldSlots(NpgsqlDataSource source) => this.source = source;

    public int Count { get; private set; }

    /// <exception cref="NpgsqlException">The server cannot be reached.</exception>
    public static async Task<HeldSlots> TakeAllAsync(string server, CancellationToken cancellationToken)
    {
        var slots = new HeldSlots(NpgsqlDataSource.Create(server));
        try
        {
            while (await slots.TryTakeAsync(cancellationToken))
                slots.Count++;
            return slots;
        }
        catch
        {
            await slots.DisposeAsync();
            throw;
        }
    }

    /// <summary>Releases them; a second call does nothing.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var id in held)
        {
            await using var command = source.CreateCommand($"ROLLBACK PREPARED '{id}'");
            await command.ExecuteNonQueryAsync();
        }

        held.Clear();
        await source.DisposeAsync();
    }

    private async Task<bool> TryTakeAsync(CancellationToken cancellationToken)
    {
        var id = $"another-application/{Guid.NewGuid():N}";
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        try
        {
            await using var prepare = new NpgsqlBatch(connection)
            {
                BatchCommands = { new("BEGIN"), new("SELECT pg_current_xact_id()"), new($"PREPARE TRANSACTION '{id}'") },
            };
            await prepare.ExecuteNonQueryAsync(cancellationToken);
            held.Add(id);
            return true;
        }
        catch (PostgresException none) when (none.SqlState == PostgresErrorCodes.OutOfMemory)
        {
            return false;
        }
    }
}
