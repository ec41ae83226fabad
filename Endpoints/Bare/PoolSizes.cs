namespace Kit.Endpoints.Bare;

/// <summary>Each worker may hold a connection to its queue and one for its handler. With fewer connections, workers wait for each other.</summary>
internal static class PoolSizes
{
    /// <summary>What an endpoint has in a database, as error messages name it.</summary>
    public const string Queue = "its queue";

    /// <inheritdoc cref="Queue"/>
    public const string Data = "its handlers' data";

    // A data source has one pool for everything: the outbox's dispatcher holds a connection to the queues and one for its claim.
    private const int Apart = 2;

    /// <exception cref="InvalidOperationException">A pool is too small.</exception>
    public static void Require(BareEndpointBuilder endpoint, DatabaseAccess queue, DatabaseAccess data)
    {
        if (queue.IsGiven && queue.IsSameAs(data))
        {
            var forHandlers = endpoint.Mode.NeedsOneDatabase ? 0 : endpoint.Concurrency;
            Require(endpoint.Name, endpoint.Concurrency, queue, endpoint.Concurrency + forHandlers + Apart, $"{Queue} and {Data}");
            return;
        }

        Require(endpoint.Name, endpoint.Concurrency, queue, NeededFor(endpoint, queue), Queue);
        Require(endpoint, data);
        foreach (var participant in endpoint.Participants)
            Require(endpoint.Name, endpoint.Concurrency, participant.Database, NeededFor(endpoint, participant.Database), participant.Title);
    }

    /// <summary>The same for the handlers' database alone, when the queue is on a broker.</summary>
    /// <exception cref="InvalidOperationException">The pool is too small.</exception>
    public static void Require(BareEndpointBuilder endpoint, DatabaseAccess data) =>
        Require(endpoint.Name, endpoint.Concurrency, data, NeededFor(endpoint, data), Data);

    /// <summary>The same for one database.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="concurrency">The number of messages that it handles at a time.</param>
    /// <param name="database">The database.</param>
    /// <param name="connections">How many connections it may hold there.</param>
    /// <param name="of">What it has there.</param>
    /// <exception cref="InvalidOperationException">The pool is too small.</exception>
    public static void Require(string endpoint, int concurrency, DatabaseAccess database, int connections, string of)
    {
        if (!database.Settings.Pooling || database.Settings.MaxPoolSize >= connections)
            return;

        throw TooSmall(
            endpoint, concurrency, "Maximum Pool Size", connections, $"{(database.IsGiven ? "data source" : "connection string")} of {of}",
            database.Settings.MaxPoolSize);
    }

    /// <summary>A pool is smaller than it must be.</summary>
    /// <param name="endpoint">The endpoint's name.</param>
    /// <param name="concurrency">The number of messages that it handles at a time.</param>
    /// <param name="setting">What the driver calls the size.</param>
    /// <param name="least">How many connections the endpoint may hold at a time.</param>
    /// <param name="of">Where the setting is.</param>
    /// <param name="found">The size.</param>
    public static InvalidOperationException TooSmall(string endpoint, int concurrency, string setting, int least, string of, int found) => new(
        $"Endpoint '{endpoint}' at concurrency {concurrency} needs a {setting} of at least {least} in the {of}, found {found}. " +
        "Raise it, or lower the concurrency.");

    private static int NeededFor(BareEndpointBuilder endpoint, DatabaseAccess database) => endpoint.Concurrency + (database.IsGiven ? Apart : 0);
}
