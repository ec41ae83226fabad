using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>One client of a server or of a pooler, and the backend that serves it.</summary>
internal sealed class PooledClient : IAsyncDisposable
{
    private const string ReadBackend = "SELECT pg_backend_pid()";

    private readonly DatabaseAccess database;
    private readonly OpenedSource source;
    private readonly NpgsqlConnection connection;
    private readonly TimeSpan patience;

    private PooledClient(DatabaseAccess database, OpenedSource source, NpgsqlConnection connection, TimeSpan patience)
    {
        this.database = database;
        this.source = source;
        this.connection = connection;
        this.patience = patience;
    }

    /// <summary>The server process that served it last.</summary>
    public int Backend { get; private set; }

    /// <summary>In the handshake a pooler reports a process id of its own; a query is answered with the server's.</summary>
    public bool IsBehindPooler => connection.ProcessID != Backend;

    public string Address => $"{connection.Host}:{connection.Port}";

    /// <param name="database">The database to connect to; with several hosts, the first that answers.</param>
    /// <param name="patience">How long an answer may take.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public static async Task<PooledClient> OpenAsync(DatabaseAccess database, TimeSpan patience, CancellationToken cancellationToken)
    {
        var opened = database.Open(enlist: false, Create);
        try
        {
            return new PooledClient(database, opened, await opened.Source.OpenConnectionAsync(cancellationToken), patience);
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    /// <summary>Opens a second client at the same address.</summary>
    public Task<PooledClient> OpenAnotherAsync(CancellationToken cancellationToken) =>
        OpenAsync(database.IsGiven ? database : database.At(connection.Host, connection.Port), patience, cancellationToken);

    /// <summary>Asks for the backend, however long the answer takes.</summary>
    public async Task WaitForBackendAsync(CancellationToken cancellationToken) => Backend = await ReadAsync(ReadBackend, cancellationToken);

    /// <summary>Asks for the backend.</summary>
    /// <exception cref="TimeoutException">There is no answer.</exception>
    public async Task FindBackendAsync(CancellationToken cancellationToken) =>
        Backend = await WithinPatienceAsync(ReadBackend, cancellationToken);

    /// <summary>Begins a transaction, and returns whether the same backend as before serves it.</summary>
    /// <exception cref="TimeoutException">There is no answer.</exception>
    public async Task<bool> BeginAsync(CancellationToken cancellationToken)
    {
        var before = Backend;
        // One round trip: from the answer on, the client keeps its backend until it commits.
        Backend = await WithinPatienceAsync($"BEGIN; {ReadBackend}", cancellationToken);
        return Backend == before;
    }

    /// <exception cref="TimeoutException">There is no answer.</exception>
    public Task CommitAsync(CancellationToken cancellationToken) => WithinPatienceAsync($"{ReadBackend}; COMMIT", cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await connection.DisposeAsync();
        await source.DisposeAsync();
    }

    private async Task<int> WithinPatienceAsync(string statements, CancellationToken cancellationToken)
    {
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        deadline.CancelAfter(patience);
        try
        {
            return await ReadAsync(statements, deadline.Token);
        }
        catch (OperationCanceledException late) when (!cancellationToken.IsCancellationRequested)
        {
            throw new TimeoutException($"No answer from {Address} within {patience.TotalSeconds} s.", late);
        }
    }

    private async Task<int> ReadAsync(string statements, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(statements, connection);
        return (int)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    private static NpgsqlDataSource Create(string connectionString)
    {
        // Do not wait for a query that was given up.
        var builder = new NpgsqlDataSourceBuilder(connectionString)
        {
            ConnectionStringBuilder = { Pooling = false, CancellationTimeout = -1 },
        };
        // Reading a number needs none of the server's types.
        builder.ConfigureTypeLoading(types => types.EnableTypeLoading(false));
        return builder.Build();
    }
}
