using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Refuses a pooler that assigns a server connection per transaction or per statement (PgBouncer's <c>pool_mode</c>), and accepts one that
/// assigns it per session. Two clients alternate transactions: with transaction pooling, one of them moves to another backend.
/// </summary>
/// <remarks>
/// The receive is a named prepared statement of its session; with transaction pooling that name can be another endpoint's statement. PgBouncer
/// separates prepared statements since version 1.21, but transaction pooling is refused there too: the queue connection's settings, the advisory
/// lock by which full-dtc recognises its server, and the driver's reset of a connection also belong to a session.
/// </remarks>
internal sealed partial class PoolerCheck(string endpoint, ILogger log)
{
    // A pooler that reuses the most recently returned connection moves a client in the second turn, one that reuses the oldest in the third.
    private const int Turns = 3;

    // In transaction pooling the second client waits ahead of the first, and is served before it.
    private const int Glances = 3;

    /// <summary>How long a pooler may take to answer. A session pool with only one connection is recognised by this wait.</summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Checks for session pooling. If there is no pooler, lets the server watch the endpoint's machine instead. With several hosts, checks the one that
    /// answers.
    /// </summary>
    /// <param name="database">The database to connect to.</param>
    /// <param name="of">What the endpoint has there.</param>
    /// <param name="cancellationToken">Ends the check.</param>
    /// <exception cref="InvalidOperationException">
    /// A pooler assigns connections for less than a session, or has none left. The message says what to do.
    /// </exception>
    /// <exception cref="NpgsqlException">The database cannot be reached. The message says which of the endpoint's databases it is.</exception>
    public async Task RequireSessionsAsync(DatabaseAccess database, string of, CancellationToken cancellationToken)
    {
        await using var first = await ConnectAsync(database, of, cancellationToken);
        try
        {
            await first.FindBackendAsync(cancellationToken);
            if (!first.IsBehindPooler)
            {
                database.KeepAlive();
                return;
            }

            await RequireTransactionsAsync(first, cancellationToken);
            await CompareAsync(first, cancellationToken);
        }
        catch (TimeoutException late)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' got a connection at {first.Address} but no answer to a query within {Patience.TotalSeconds} s. " +
                "A pooler with no free connection behaves like that. Enlarge its pool, or connect to the PostgreSQL server directly.",
                late);
        }
    }

    private async Task<PooledClient> ConnectAsync(DatabaseAccess database, string of, CancellationToken cancellationToken)
    {
        try
        {
            return await PooledClient.OpenAsync(database, Patience, cancellationToken);
        }
        catch (NpgsqlException unreachable)
        {
            var settings = database.Settings;
            throw new NpgsqlException(
                $"Endpoint '{endpoint}' cannot connect to the database of {of} " +
                $"(Host={settings.Host};Port={settings.Port};Database={settings.Database};Username={settings.Username}): {unreachable.Message}",
                unreachable);
        }
    }

    private async Task RequireTransactionsAsync(PooledClient first, CancellationToken cancellationToken)
    {
        try
        {
            await TakeTurnAsync(first, [first], cancellationToken);
        }
        catch (PostgresException refused)
        {
            throw Refused(first, $"refuses a transaction of several statements ('{refused.MessageText}'): it uses statement pooling", refused);
        }
    }

    private async Task CompareAsync(PooledClient first, CancellationToken cancellationToken)
    {
        await using var second = await first.OpenAnotherAsync(cancellationToken);
        using var givingUp = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var waiting = second.WaitForBackendAsync(givingUp.Token);
        try
        {
            var isLate = await Task.WhenAny(waiting, Task.Delay(Patience, cancellationToken)) != waiting;
            if (isLate && await IsInVainAsync(waiting, first, cancellationToken))
            {
                LogPoolIsFull(endpoint, first.Address, Patience.TotalSeconds);
                return;
            }

            await waiting.WaitAsync(Patience, cancellationToken);
            if (second.Backend == first.Backend)
                throw Refused(first, "gave two clients the same server connection: it uses transaction pooling");

            for (var turn = 0; turn < Turns; turn++)
                await TakeTurnAsync(first, turn % 2 == 0 ? [second, first] : [first, second], cancellationToken);
        }
        finally
        {
            await givingUp.CancelAsync();
            await GiveUpAsync(waiting);
        }
    }

    /// <summary>Whether one client waits for a backend while the other keeps its own: session pooling with no connection left.</summary>
    private async Task<bool> IsInVainAsync(Task waiting, PooledClient first, CancellationToken cancellationToken)
    {
        for (var glance = 0; glance < Glances; glance++)
            await TakeTurnAsync(first, [first], cancellationToken);

        return !waiting.IsCompleted;
    }

    /// <summary>The clients begin in that order, so that all hold a backend at the same time, and commit in the same order in every turn.</summary>
    private async Task TakeTurnAsync(PooledClient first, PooledClient[] order, CancellationToken cancellationToken)
    {
        foreach (var client in order)
        {
            if (!await client.BeginAsync(cancellationToken))
                throw Refused(first, "gave a client another server connection for its next transaction: it uses transaction pooling");
        }

        foreach (var client in order.OrderByDescending(client => client == first))
            await client.CommitAsync(cancellationToken);
    }

    private InvalidOperationException Refused(PooledClient client, string found, Exception? cause = null) => new(
        $"Endpoint '{endpoint}' needs the same server connection for its whole session, but the pooler at {client.Address} {found}. " +
        "Use session pooling (PgBouncer: pool_mode = session for this database), or connect to the PostgreSQL server directly.",
        cause);

    private static async Task GiveUpAsync(Task waiting)
    {
        try
        {
            await waiting;
        }
        catch (Exception givenUp) when (givenUp is OperationCanceledException or NpgsqlException)
        {
            // It never got a backend, or its failure was already thrown.
        }
    }

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "Endpoint '{Endpoint}' found a pooler at {Address} in session pooling that had no second connection within " +
            "{Seconds} s. An endpoint needs one connection for each worker and one for each handler: enlarge the pool.")]
    private partial void LogPoolIsFull(string endpoint, string address, double seconds);
}
