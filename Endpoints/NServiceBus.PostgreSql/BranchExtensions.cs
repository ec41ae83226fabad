using System.Data.Common;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;

// In NServiceBus's namespace, so that the methods are found where handlers are written.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace NServiceBus;
#pragma warning restore IDE0130

/// <summary>Gives handlers the connection whose work commits with the receive of their message, for <c>full-dtc</c> on PostgreSQL.</summary>
public static class BranchExtensions
{
    /// <summary>
    /// Returns the connection to the handlers' database, in a transaction that commits if and only if the receive of the message does. All
    /// handlers of the message get the same one. Do not close it, and do not end its transaction.
    /// </summary>
    /// <exception cref="NotSupportedException">
    /// The message was not received by a <see cref="TwoPhasePostgreSqlTransport"/> in <see cref="TransportTransactionMode.TransactionScope"/>.
    /// </exception>
    /// <exception cref="Npgsql.NpgsqlException">The database cannot be reached.</exception>
    /// <exception cref="InvalidOperationException">The handler's attempt has ended.</exception>
    public static ValueTask<DbConnection> GetBranchConnectionAsync(this IMessageHandlerContext context) =>
        UnitOf(context).GetConnectionAsync(context.CancellationToken);

    /// <summary>Returns the transaction of <see cref="GetBranchConnectionAsync"/>, for libraries that want the object. Do not end it.</summary>
    /// <inheritdoc cref="GetBranchConnectionAsync" path="/exception"/>
    public static ValueTask<DbTransaction> GetBranchTransactionAsync(this IMessageHandlerContext context) =>
        UnitOf(context).GetTransactionAsync(context.CancellationToken);

    private static UnitWithBranches UnitOf(IMessageHandlerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        return context.Extensions.TryGet(out UnitWithBranches? unit)
            ? unit
            : throw new NotSupportedException(
                "The message was not received in full-dtc. Configure the endpoint with " +
                $"UseTransactionMode(new {nameof(TwoPhasePostgreSqlTransport)}(…), TransactionMode.FullDtc).");
    }
}
