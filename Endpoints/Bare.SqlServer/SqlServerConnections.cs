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
