using System.Buffers.Binary;
using System.Data;
using System.Security.Cryptography;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Connections to the handlers' database that are proved to be on the same running server as one queue session. Each is proved once, when it is
/// opened, so a message costs nothing. The proof belongs to that session: after a reconnect, another session may be on another server.
/// </summary>
/// <remarks>
/// A system identifier does not distinguish servers: a base backup, a snapshot and a promoted standby have that of their origin. The proof is an
/// advisory lock with a random key, which the queue's session holds and the other connection looks for. Such a lock exists only in the memory of
/// one running server: it is not in copies of its files, and not replicated to standbys. <c>pg_locks</c> shows it to every role, in every
/// database of the server; <c>backend_start</c> in <c>pg_stat_activity</c> is hidden from roles without <c>pg_read_all_stats</c>.
/// Two servers would be unsafe: after a crash, the queue's server could forget a transaction id that a branch on the other server names, and
/// assign it again. On one server, the flush of PREPARE TRANSACTION makes the id durable.
/// </remarks>
internal sealed class OneServer : IAsyncDisposable
{
    private readonly NpgsqlConnection queue;
    private readonly string needs;
    private readonly long key = BinaryPrimitives.ReadInt64LittleEndian(RandomNumberGenerator.GetBytes(sizeof(long)));

    private OneServer(NpgsqlConnection queue, string dataConnectionString, string needs)
    {
        this.queue = queue;
        this.needs = needs;
        // A worker uses one connection at a time, so the user's minimum pool size does not apply.
        var builder = new NpgsqlDataSourceBuilder(dataConnectionString) { ConnectionStringBuilder = { MinPoolSize = 0 } };
        builder.UsePhysicalConnectionInitializer(Prove, ProveAsync);
        Data = builder.Build();
    }

    /// <summary>All its connections are on the queue's server.</summary>
    public NpgsqlDataSource Data { get; }

    /// <summary>Set when a later connection has reached another server. The configuration is wrong, not the handler.</summary>
    public InvalidOperationException? Refusal { get; private set; }

    /// <summary>Opens a first connection and proves it, before the first message.</summary>
    /// <param name="queue">Holds the lock until it is closed.</param>
    /// <param name="dataConnectionString">The handlers' database.</param>
    /// <param name="needs">What needs one server, for the refusal.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    /// <exception cref="InvalidOperationException">The two are on different servers. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A server cannot be reached.</exception>
    public static async Task<OneServer> ProveAsync(
        NpgsqlConnection queue, string dataConnectionString, string needs, CancellationToken cancellationToken)
    {
        var server = new OneServer(queue, dataConnectionString, needs);
        try
        {
            await using var hold = new NpgsqlCommand("SELECT pg_advisory_lock($1)", queue) { Parameters = { server.Key } };
            await hold.ExecuteNonQueryAsync(cancellationToken);
            await using var first = await server.Data.OpenConnectionAsync(cancellationToken);
            return server;
        }
        catch (Exception failure)
        {
            await server.DisposeAsync();
            // With several hosts, the driver reports only that none was suitable.
            if (server.Refusal is not null && server.Refusal != failure)
                throw server.Refusal;
            throw;
        }
    }

    /// <summary>Releases the lock, because the session may return to a pool and stay open.</summary>
    public async ValueTask DisposeAsync()
    {
        await Data.DisposeAsync();
        if (queue.State != ConnectionState.Open)
            return;

        try
        {
            await using var release = new NpgsqlCommand("SELECT pg_advisory_unlock($1)", queue) { Parameters = { Key } };
            await release.ExecuteNonQueryAsync();
        }
        catch (NpgsqlException)
        {
            // The session is gone, and so are its locks.
        }
    }

    private NpgsqlParameter<long> Key => new() { TypedValue = key };

    private void Prove(NpgsqlConnection data)
    {
        using var look = Look(data);
        RequireSeen(look.ExecuteScalar(), data);
    }

    private async Task ProveAsync(NpgsqlConnection data)
    {
        await using var look = Look(data);
        RequireSeen(await look.ExecuteScalarAsync(), data);
    }

    /// <summary>Looks for the lock. In pg_locks, classid and objid have the halves of a 64-bit key, and objsubid is 1.</summary>
    private NpgsqlCommand Look(NpgsqlConnection data) => new(
        """
        SELECT EXISTS (
            SELECT FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND (classid::bigint << 32) | objid::bigint = $1)
        """,
        data)
    {
        Parameters = { Key },
    };

    private void RequireSeen(object? isSeen, NpgsqlConnection data)
    {
        if (isSeen is true)
            return;

        Refusal = new InvalidOperationException(
            $"{needs} needs the queue and the handlers' database on one PostgreSQL server, but a lock held at " +
            $"{AddressOf(queue)} (queue) is not visible at {AddressOf(data)} (data): they are two servers, or a clone (base backup, snapshot, " +
            "promoted standby) and its origin. " +
            "Point both connection strings to the same server, or use another mode or flush.");
        throw Refusal;
    }

    private static string AddressOf(NpgsqlConnection connection) => $"{connection.Host}:{connection.Port}";
}
