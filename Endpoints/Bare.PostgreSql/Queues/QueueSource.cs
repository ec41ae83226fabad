using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

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
        SELECT name, wanted, set_config(name, wanted, false)
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
        // A worker keeps its session. In npgsql-scope a reset would revert the settings each time the connection returns to the pool; no handler has it.
        : this(database, enlist, settings => (settings.Pooling, settings.NoResetOnClose) = (enlist, true))
    {
    }

    private QueueSource(DatabaseAccess database, bool enlist, Action<NpgsqlConnectionStringBuilder> adapt)
    {
        this.database = database;
        opened = database.Open(enlist, connectionString => Create(connectionString, adapt));
    }

    /// <summary>For statements that need no session.</summary>
    public NpgsqlDataSource Source => opened.Source;

    /// <summary>Sets the same again on a session that its pool has reset, and returns one row; <see langword="null"/>: nothing is to be set.</summary>
    public string? Configuration { get; private set; }

    /// <summary>
    /// The same for one session, which is lent to handlers: the driver gives a new connection object for each message, and the session stays. The object of
    /// the last message is closed for whoever still has it, and the driver resets what its handler has left in the session, as the connection string says.
    /// Execute <see cref="Configuration"/> after each reset.
    /// </summary>
    public QueueSource ForLending() =>
        new(database, enlist: false, settings => (settings.Pooling, settings.MinPoolSize, settings.MaxPoolSize) = (true, 0, 1));

    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async ValueTask<NpgsqlConnection> OpenAsync(CancellationToken cancellationToken)
    {
        var session = await Source.OpenConnectionAsync(cancellationToken);
        // A connection of the kit's own was configured when it was opened.
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

    /// <summary>Opens a session that was configured before and has been reset. Its user executes <see cref="Configuration"/>.</summary>
    /// <inheritdoc cref="OpenAsync" path="/exception"/>
    public ValueTask<NpgsqlConnection> OpenAgainAsync() => Source.OpenConnectionAsync(CancellationToken.None);

    private NpgsqlDataSource Create(string connectionString, Action<NpgsqlConnectionStringBuilder> adapt)
    {
        var settings = new NpgsqlConnectionStringBuilder(connectionString);
        adapt(settings);
        return new NpgsqlDataSourceBuilder(settings.ConnectionString)
            .UsePhysicalConnectionInitializer(
                _ => throw new NotSupportedException("The endpoint opens its sessions asynchronously."), ConfigureAsync)
            .Build();
    }

    private async Task ConfigureAsync(NpgsqlConnection session)
    {
        await using var command = new NpgsqlCommand(Configure, session);
        await using var reader = await command.ExecuteReaderAsync();
        var set = new List<string>();
        while (await reader.ReadAsync())
            set.Add($"set_config('{reader.GetString(0)}', '{reader.GetString(1)}', false)");

        Configuration = set.Count == 0 ? null : $"SELECT {string.Join(", ", set)}";
    }
}
