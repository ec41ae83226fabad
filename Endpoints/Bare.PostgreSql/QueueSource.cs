using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Opens the sessions that receive, and sets the server's time-outs and TCP keepalive for each of them.</summary>
/// <remarks>
/// A session stays in its transaction for as long as a handler takes. The server's time-outs for idle sessions and long transactions would end it, and
/// another worker would receive the message. A machine that vanished silently must not hold its message for two hours, the usual default of TCP
/// keepalive: here the server probes after 30 s and gives up after another 30 s.
/// </remarks>
internal sealed class QueueSource : IAsyncDisposable
{
    // Only settings that this server has (transaction_timeout came with version 17), and no keepalive that is already shorter. On Unix sockets it is 0.
    private const string Configure =
        """
        SELECT set_config(name, wanted, false)
        FROM (VALUES ('idle_in_transaction_session_timeout', '0'), ('idle_session_timeout', '0'), ('transaction_timeout', '0'),
                     ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3')) AS ours (name, wanted)
        JOIN pg_settings USING (name)
        WHERE wanted = '0' OR setting::integer > wanted::integer
        """;

    private readonly DatabaseAccess database;
    private readonly OpenedSource opened;

    /// <param name="database">The queue's database.</param>
    /// <param name="enlist">Whether its sessions join an ambient transaction, and are therefore opened from a pool for each message.</param>
    public QueueSource(DatabaseAccess database, bool enlist)
        : this(database, enlist, connectionString => Create(connectionString, isPooled: enlist))
    {
    }

    private QueueSource(DatabaseAccess database, bool enlist, Func<string, NpgsqlDataSource> create)
    {
        this.database = database;
        opened = database.Open(enlist, create);
    }

    /// <summary>For statements that need no session.</summary>
    public NpgsqlDataSource Source => opened.Source;

    /// <summary>
    /// The same for one session, which is lent to handlers: the driver gives a new connection object for each message, and the session stays. The object of
    /// the last message is closed for whoever still has it.
    /// </summary>
    public QueueSource ForLending() =>
        new(database, enlist: false, connectionString => Create(
            new NpgsqlConnectionStringBuilder(connectionString) { MinPoolSize = 0, MaxPoolSize = 1 }.ConnectionString, isPooled: true));

    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async ValueTask<NpgsqlConnection> OpenAsync(CancellationToken cancellationToken)
    {
        var session = await Source.OpenConnectionAsync(cancellationToken);
        // A connection of the kit's own was configured when it was opened. One of the application's is reset when it returns to its pool.
        if (!database.IsGiven)
            return session;

        try
        {
            await ConfigureAsync(session);
            return session;
        }
        catch
        {
            await session.DisposeAsync();
            throw;
        }
    }

    public ValueTask DisposeAsync() => opened.DisposeAsync();

    private static NpgsqlDataSource Create(string connectionString, bool isPooled)
    {
        // A reset would revert the settings each time a connection returns to the pool. A worker keeps its session. If it needs another one because
        // a handler left the lent session unusable (SET search_path), a pooled one would not help.
        var settings = new NpgsqlConnectionStringBuilder(connectionString) { NoResetOnClose = true, Pooling = isPooled };
        return new NpgsqlDataSourceBuilder(settings.ConnectionString)
            .UsePhysicalConnectionInitializer(
                connection =>
                {
                    using var command = new NpgsqlCommand(Configure, connection);
                    command.ExecuteNonQuery();
                },
                ConfigureAsync)
            .Build();
    }

    private static async Task ConfigureAsync(NpgsqlConnection session)
    {
        await using var command = new NpgsqlCommand(Configure, session);
        await command.ExecuteNonQueryAsync();
    }
}
