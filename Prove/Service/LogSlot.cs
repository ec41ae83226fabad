using Npgsql;

namespace Kit.Prove.Service;

/// <summary>A place in the log of a database, from which it is decoded.</summary>
/// <param name="Database">By the name in the file.</param>
/// <param name="Holder">The session of a temporary slot, which alone can use it; <see langword="null"/>: the slot is not temporary.</param>
internal sealed record LogSlot(string Database, NpgsqlDataSource Source, string Connection, NpgsqlConnection? Holder)
{
    private const int KeepAliveSeconds = 30;

    /// <summary>Names of slots are the server's, and have fewer characters than those of databases.</summary>
    public string Name { get; } = $"kit_{Guid.NewGuid():N}";

    /// <summary>A name, and a session for it.</summary>
    /// <param name="connection">Of a temporary slot: for a session that the server does not end while this process lives.</param>
    /// <exception cref="NpgsqlException">The server refuses the session.</exception>
    public static async Task<LogSlot> OpenAsync(
        string database, NpgsqlDataSource source, string connection, bool isTemporary, CancellationToken cancellationToken)
    {
        if (!isTemporary)
            return new LogSlot(database, source, connection, Holder: null);

        var settings = new NpgsqlConnectionStringBuilder(connection) { Pooling = false, KeepAlive = KeepAliveSeconds };
        var holder = new NpgsqlConnection(settings.ConnectionString);
        try
        {
            await holder.OpenAsync(cancellationToken);
            return new LogSlot(database, source, settings.ConnectionString, holder);
        }
        catch
        {
            await holder.DisposeAsync();
            throw;
        }
    }

    public NpgsqlCommand CommandOf(string sql) => Holder is null ? Source.CreateCommand(sql) : new NpgsqlCommand(sql, Holder);

    /// <summary>Drops it if it is there. A temporary one is gone after a failure in its session, and with its session.</summary>
    /// <exception cref="NpgsqlException">The server cannot be asked.</exception>
    public async Task DropAsync()
    {
        try
        {
            await using var drop = CommandOf("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1");
            drop.Parameters.Add(new NpgsqlParameter<string> { TypedValue = Name });
            await drop.ExecuteNonQueryAsync();
        }
        catch (Exception lost) when (Holder is not null && lost is NpgsqlException or InvalidOperationException)
        {
            // The session has ended.
        }
        finally
        {
            if (Holder is not null)
                await Holder.DisposeAsync();
        }
    }

    /// <summary>True while a session reads from it.</summary>
    /// <exception cref="NpgsqlException">The server cannot be asked.</exception>
    public async Task<bool> IsActiveAsync()
    {
        await using var ask = Source.CreateCommand("SELECT active FROM pg_replication_slots WHERE slot_name = $1");
        ask.Parameters.Add(new NpgsqlParameter<string> { TypedValue = Name });
        return await ask.ExecuteScalarAsync() is true;
    }
}
