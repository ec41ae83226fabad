using System.Transactions;
using Kit.Modes;
using Microsoft.Data.SqlClient;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>The connection strings of one endpoint, adapted to its mode.</summary>
internal sealed class SqlServerConnections
{
    // By default a connection whose transaction has timed out continues in autocommit, and the handler's later writes stay
    // (https://learn.microsoft.com/dotnet/api/microsoft.data.sqlclient.sqlconnectionstringbuilder.transactionbinding).
    private const string RefuseAfterTimeout = "Explicit Unbind";

    private readonly SqlConnectionStringBuilder queue;
    private readonly SqlConnectionStringBuilder data;

    /// <exception cref="ArgumentException">A connection string cannot be read.</exception>
    public SqlServerConnections(string queueConnectionString, string? dataConnectionString)
    {
        queue = new SqlConnectionStringBuilder(queueConnectionString);
        data = new SqlConnectionStringBuilder(dataConnectionString ?? queueConnectionString);
    }

    /// <summary>Whether both connection strings mean the same. Then one pool, and one session at a time, serves both.</summary>
    public bool AreOne => queue.ConnectionString.Equals(data.ConnectionString, StringComparison.Ordinal);

    /// <summary>The names of the databases of queue and rows.</summary>
    public IReadOnlyList<string> Databases => [queue.InitialCatalog, data.InitialCatalog];

    public string ForQueue(TransactionMode mode) => Of(queue, enlist: mode.IsOneUnit);

    public string ForData(TransactionMode mode) => Of(data, enlist: mode.CommitOrder.HasAmbientTransaction);

    /// <summary>Ensures, before anything is received, that a mode can run over these connections.</summary>
    /// <param name="endpoint">The endpoint's name, for the message.</param>
    /// <param name="mode">The mode.</param>
    /// <exception cref="NotSupportedException">It cannot run on this machine, or not with these connection strings.</exception>
    public void Require(string endpoint, TransactionMode mode)
    {
        if (SqlServerSupport.Of(mode, AreOne).Because is { } reason)
            throw new NotSupportedException($"Endpoint '{endpoint}' cannot run in {mode}: {reason}.");
        if (mode.IsOneUnit && !AreOne)
            RequireCoordinator(endpoint, mode);
        // A session that does not go back to the pool waits for the transaction's end, and the handler's open is a second session, which promotes it.
        if (mode.IsOneUnit && AreOne && (!queue.Pooling || queue.LoadBalanceTimeout > 0))
        {
            throw new NotSupportedException(
                $"Endpoint '{endpoint}' cannot run in {mode}: a connection that is not pooled, or not for long, is not the next one's session, and a second " +
                "session would need MSDTC. Take Pooling=false, Load Balance Timeout and Connection Lifetime out of the connection string.");
        }
    }

    /// <summary>Ensures that no worker waits for a connection that others keep.</summary>
    /// <param name="endpoint">The endpoint's name, for the message.</param>
    /// <param name="mode">The mode.</param>
    /// <param name="concurrency">The number of messages that the endpoint handles at a time.</param>
    /// <exception cref="InvalidOperationException">A pool is too small.</exception>
    public void RequirePools(string endpoint, TransactionMode mode, int concurrency)
    {
        // A worker keeps its connection to the queue. Without a scope the handler's is of the same pool; in a scope of both it is the same session.
        var isShared = ForQueue(mode) == ForData(mode);
        var least = isShared && !mode.IsOneUnit ? 2 * concurrency : concurrency;
        RequirePool(queue, isShared ? $"{PoolSizes.Queue} and {PoolSizes.Data}" : PoolSizes.Queue);
        RequirePool(data, PoolSizes.Data);

        void RequirePool(SqlConnectionStringBuilder pool, string of)
        {
            if (pool.Pooling && pool.MaxPoolSize < least)
                throw PoolSizes.TooSmall(endpoint, concurrency, "Max Pool Size", least, $"connection string of {of}", pool.MaxPoolSize);
        }
    }

    /// <summary>Promotes a transaction before any message does, so that a problem with MSDTC is reported once.</summary>
    private static void RequireCoordinator(string endpoint, TransactionMode mode)
    {
        if (OperatingSystem.IsWindows())
            TransactionManager.ImplicitDistributedTransactions = true;
        try
        {
            using var scope = AmbientTransaction.Begin(new TransactionSettings(mode, TransactionTimeout.Default));
            TransactionInterop.GetTransmitterPropagationToken(Transaction.Current!);
        }
        catch (TransactionException refused)
        {
            throw new NotSupportedException(
                $"Endpoint '{endpoint}' cannot run in {mode}: MSDTC does not coordinate its transactions: {Failure.ReasonOf(refused).Message}",
                refused);
        }
    }

    private static string Of(SqlConnectionStringBuilder connection, bool enlist)
    {
        var settings = new SqlConnectionStringBuilder(connection.ConnectionString) { Enlist = enlist };
        if (enlist)
            settings.TransactionBinding = RefuseAfterTimeout;

        return settings.ConnectionString;
    }
}
