using System.Data.Common;
using NServiceBus;

namespace Kit.Endpoints.Cells;

/// <summary>The connection that an endpoint lends to a handler, and its transaction.</summary>
internal sealed record NServiceBusLentConnection(
    Func<IMessageHandlerContext, ValueTask<DbConnection>> Connection, Func<IMessageHandlerContext, ValueTask<DbTransaction>> Transaction)
{
    /// <summary>That of the receive, for <c>shared</c>.</summary>
    public static NServiceBusLentConnection Receive { get; } = new(
        context => ValueTask.FromResult(context.GetReceiveTransaction().Connection!), context => ValueTask.FromResult(context.GetReceiveTransaction()));

    /// <summary>That of the branch, for <c>full-dtc</c> on PostgreSQL.</summary>
    public static NServiceBusLentConnection Branch { get; } = new(
        context => context.GetBranchConnectionAsync(), context => context.GetBranchTransactionAsync());
}
