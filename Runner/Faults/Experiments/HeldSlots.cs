using Npgsql;

namespace Kit.Runner.Faults.Experiments;

/// <summary>Every prepared transaction that a server still allows, held by another application than the endpoint.</summary>
internal sealed class HeldSlots : IAsyncDisposable
{
    /// <summary>Time for which an experiment holds them: longer than a handler needs for three attempts.</summary>
    public static readonly TimeSpan Time = TimeSpan.FromSeconds(3);

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
