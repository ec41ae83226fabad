using System.Buffers.Binary;
using System.Data;
using System.Security.Cryptography;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Connections to the handlers' database that are proved to reach the running server of one queue session. Each is proved once, when it is
/// opened; a message costs nothing. Belongs to that session: another one, after a reconnect, may be on another server.
/// </summary>
/// <remarks>
/// A system identifier does not tell servers apart: a base backup, a snapshot and a promoted standby have that of their origin. The proof
/// is an advisory lock under a random key, held by the queue's session and looked for from the other connection. Such a lock is in the
/// memory of one running server: no copy of its files has it, and no standby is sent it. <c>pg_locks</c> shows it to every role, from every
/// database of the server; <c>backend_start</c> in <c>pg_stat_activity</c> is hidden from roles without <c>pg_read_all_stats</c>.
/// One server it must be: a crash of the queue's could forget a transaction id that a branch elsewhere names, and give it out again. On one
/// server the flush of PREPARE TRANSACTION makes the id durable.
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
        // One worker has one connection at a time, however many a pool of the user's is to hold ready.
        var builder = new NpgsqlDataSourceBuilder(dataConnectionString) { ConnectionStringBuilder = { MinPoolSize = 0 } };
        builder.UsePhysicalConnectionInitializer(Prove, ProveAsync);
        Data = builder.Build();
    }

    /// <summary>Every connection it opens is on the queue's server.</summary>
    public NpgsqlDataSource Data { get; }

    /// <summary>Set when a connection has reached another server since: where messages are handled is wrong, not the handler.</summary>
    public InvalidOperationException? Refusal { get; private set; }

    /// <summary>Proves it before the first message, with a first connection.</summary>
    /// <param name="queue">Keeps the lock until it is closed.</param>
    /// <param name="dataConnectionString">Where the handlers' data is.</param>
    /// <param name="needs">What needs one server, for the refusal.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    /// <exception cref="InvalidOperationException">The two are on different servers; the message says what to do.</exception>
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
            // For a list of hosts the driver says only that it found none.
            if (server.Refusal is not null && server.Refusal != failure)
                throw server.Refusal;
            throw;
        }
    }

    /// <summary>Gives the lock back: the session may go to a pool and live on.</summary>
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
            // The session is gone, and its locks with it.
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

    /// <summary>As PostgreSQL documents pg_locks: the halves of a key of 64 bits are in classid and objid, and objsubid is 1.</summary>
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
            $"{needs} needs the queue and the handlers' database on one PostgreSQL server, and a lock of the queue's connection at " +
            $"{AddressOf(queue)} is not seen at {AddressOf(data)}: these are two servers, or a clone (base backup, snapshot, promoted standby) " +
            "and its origin. " +
            "Let both connection strings lead to one server, or use another mode or flush.");
        throw Refusal;
    }

    private static string AddressOf(NpgsqlConnection connection) => $"{connection.Host}:{connection.Port}";
}
