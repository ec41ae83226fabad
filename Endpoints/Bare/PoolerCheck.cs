using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Refuses a pooler that lends a server connection for a transaction or a statement (PgBouncer's <c>pool_mode</c>), and accepts one that
/// lends it for a session. Two clients alternate transactions, so that in transaction pooling one of them is moved to another backend.
/// </summary>
/// <remarks>
/// The receive is prepared by name on its session; in transaction pooling that name is another endpoint's statement. PgBouncer keeps
/// prepared statements apart from version 1.21 on, and transaction pooling is refused there too: the session settings of the queue's
/// connection, the advisory lock by which full-dtc knows its server, and the driver's reset of a connection are a session's as well.
/// </remarks>
internal sealed partial class PoolerCheck(string endpoint, ILogger log)
{
    // A pooler that lends the connection that came back last moves a client in the second turn, one that lends the oldest in the third.
    private const int Turns = 3;

    // In transaction pooling the second client waits in front of the first, and is served before it.
    private const int Glances = 3;

    /// <summary>How long a pooler may take to answer. A pool of one connection in session pooling is known by the wait.</summary>
    public TimeSpan Patience { get; init; } = TimeSpan.FromSeconds(10);

    /// <summary>Returns at once where there is no pooler. Of a list of hosts, the one that answers is looked at.</summary>
    /// <param name="database">Where it connects.</param>
    /// <param name="of">What the endpoint has there.</param>
    /// <param name="cancellationToken">Ends the check.</param>
    /// <exception cref="InvalidOperationException">
    /// A pooler lends connections for less than a session, or lends none; the message says what to do.
    /// </exception>
    /// <exception cref="NpgsqlException">The database cannot be reached; the message says which of the endpoint's.</exception>
    public async Task RequireSessionsAsync(DatabaseAccess database, string of, CancellationToken cancellationToken)
    {
        await using var first = await ConnectAsync(database, of, cancellationToken);
        try
        {
            await first.FindBackendAsync(cancellationToken);
            if (!first.IsBehindPooler)
                return;

            await RequireTransactionsAsync(first, cancellationToken);
            await CompareAsync(first, cancellationToken);
        }
        catch (TimeoutException late)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' got a connection at {first.Address} and no answer to a query within {Patience.TotalSeconds} s, " +
                "as from a pooler whose pool is used up. Enlarge its pool, or name the PostgreSQL server itself.",
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
            throw Refused(first, $"refuses a transaction that lasts ('{refused.MessageText}'), which is statement pooling", refused);
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
                throw Refused(first, "gave two clients one server connection, which is transaction pooling");

            for (var turn = 0; turn < Turns; turn++)
                await TakeTurnAsync(first, turn % 2 == 0 ? [second, first] : [first, second], cancellationToken);
        }
        finally
        {
            await givingUp.CancelAsync();
            await GiveUpAsync(waiting);
        }
    }

    /// <summary>Whether one client waits for a backend while the other has one to itself: session pooling, no connection left.</summary>
    private async Task<bool> IsInVainAsync(Task waiting, PooledClient first, CancellationToken cancellationToken)
    {
        for (var glance = 0; glance < Glances; glance++)
            await TakeTurnAsync(first, [first], cancellationToken);

        return !waiting.IsCompleted;
    }

    /// <summary>They begin in that order, so that all hold a backend at one time, and commit in the same order in every turn.</summary>
    private async Task TakeTurnAsync(PooledClient first, PooledClient[] order, CancellationToken cancellationToken)
    {
        foreach (var client in order)
        {
            if (!await client.BeginAsync(cancellationToken))
                throw Refused(first, "gave one client another server connection for its next transaction, which is transaction pooling");
        }

        foreach (var client in order.OrderByDescending(client => client == first))
            await client.CommitAsync(cancellationToken);
    }

    private InvalidOperationException Refused(PooledClient client, string found, Exception? cause = null) => new(
        $"Endpoint '{endpoint}' needs a server connection for as long as its session lasts, and the pooler at {client.Address} {found}. " +
        "Use session pooling (PgBouncer: pool_mode = session for this database), or name the PostgreSQL server itself.",
        cause);

    private static async Task GiveUpAsync(Task waiting)
    {
        try
        {
            await waiting;
        }
        catch (Exception givenUp) when (givenUp is OperationCanceledException or NpgsqlException)
        {
            // It never got a backend, or its failure is thrown already.
        }
    }

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "Endpoint '{Endpoint}' found a pooler at {Address} in session pooling that had no second connection within " +
            "{Seconds} s. An endpoint needs one for each worker and one for each handler: enlarge the pool.")]
    private partial void LogPoolIsFull(string endpoint, string address, double seconds);
}
