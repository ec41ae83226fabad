using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Opens the sessions that receive. They are the kit's own, and what a server ends too early or too late is set for each of them.</summary>
/// <remarks>
/// A session waits in its transaction for as long as a handler takes: the server's time-outs for idle sessions and long transactions would end it and
/// hand the message to another worker. And a machine that vanished without a word must not hold its message for two hours, which is the usual default
/// of TCP keepalive: the server asks after 30 s and gives up after another 30 s.
/// </remarks>
internal sealed class QueueSource : IAsyncDisposable
{
    // Only what this server has (transaction_timeout came with version 17), and no keepalive that somebody has set shorter. On Unix sockets those are 0.
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

    /// <param name="database">The queue's.</param>
    /// <param name="enlist">Whether its sessions join an ambient transaction, and so are opened for each message, from a pool.</param>
    public QueueSource(DatabaseAccess database, bool enlist)
    {
        this.database = database;
        opened = database.Open(enlist, connectionString => Create(connectionString, isPooled: enlist));
    }

    /// <summary>For statements that need no session.</summary>
    public NpgsqlDataSource Source => opened.Source;

    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async ValueTask<NpgsqlConnection> OpenAsync(CancellationToken cancellationToken)
    {
        var session = await Source.OpenConnectionAsync(cancellationToken);
        // A new one was configured when it was opened. One of the application's is reset when it goes back to its pool.
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
        // The reset would take the settings back, each time a connection goes to the pool. A worker keeps its session: where it must have another one,
        // because a handler that was lent it left it unusable (SET search_path), none from a pool will do.
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
