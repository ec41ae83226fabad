using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

/// <summary>Opens the sessions that receive, and sets the server's time-outs and TCP keepalive for each of them.</summary>
/// <remarks>
/// A session stays in its transaction for as long as a handler takes. The server's time-outs for idle sessions and long transactions would end it, and
/// another worker would receive the message.
/// </remarks>
internal sealed class QueueSource : IAsyncDisposable
{
    private readonly DatabaseAccess database;
    private readonly OpenedSource opened;
    private readonly bool isLent;

    /// <param name="database">The queue's database.</param>
    /// <param name="enlist">Whether its sessions join an ambient transaction, and are therefore opened from a pool for each message.</param>
    public QueueSource(DatabaseAccess database, bool enlist)
        // A worker keeps its session. In npgsql-scope a reset would revert the settings each time the connection returns to the pool; no handler has it.
        : this(database, enlist, isLent: false, settings => (settings.Pooling, settings.NoResetOnClose) = (enlist, true))
    {
    }

    private QueueSource(DatabaseAccess database, bool enlist, bool isLent, Action<NpgsqlConnectionStringBuilder> adapt)
    {
        this.database = database;
        this.isLent = isLent;
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
        new(database, enlist: false, isLent: true, settings => (settings.Pooling, settings.MinPoolSize, settings.MaxPoolSize) = (true, 0, 1));

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

    private async Task ConfigureAsync(NpgsqlConnection session) =>
        Configuration = await (isLent ? PatientSession.WaitAsync(session) : PatientSession.ReceiveAsync(session));
}
