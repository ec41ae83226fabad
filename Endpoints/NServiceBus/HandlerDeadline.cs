using System.Diagnostics;
using System.Transactions;
using Kit.Modes;
using NServiceBus.Pipeline;

namespace Kit.Endpoints.NServiceBus;

/// <summary>
/// In <c>dtc-off</c>, fails a message whose handlers took longer than their transaction's time-out, before NServiceBus's own wrap completes it.
/// </summary>
/// <remarks>
/// <para>
/// When a scope times out, it rolls back while the handler still runs. Npgsql then un-enlists the handler's connection, and later statements on it
/// autocommit. The wrap therefore has the longest time-out that the process allows, which keeps all of the handlers' work in the transaction. The
/// requested time-out is checked here, when the handlers have returned. NServiceBus offers no way to cancel the handler's token.
/// </para>
/// <para>
/// The limit: if a handler runs for longer than <see cref="TransactionManager.MaximumTimeout"/> (10 minutes, unless the process changed it), Npgsql
/// un-enlists its connection all the same, and later writes stay.
/// </para>
/// </remarks>
/// <param name="timeout">How long the handlers may take.</param>
internal sealed class HandlerDeadline(TimeSpan timeout) : Behavior<IIncomingPhysicalMessageContext>
{
    /// <exception cref="TimeoutException">The handlers returned too late; none of their work is committed.</exception>
    public override async Task Invoke(IIncomingPhysicalMessageContext context, Func<Task> next)
    {
        var begun = Stopwatch.GetTimestamp();
        await next();
        if (Stopwatch.GetElapsedTime(begun) is var taken && taken >= timeout)
            throw TransactionTimeout.Exceeded(timeout, taken);
    }

    /// <summary>Registers it inside NServiceBus's wrap. An endpoint without that step does not start.</summary>
    internal sealed class Step : RegisterStep
    {
        private const string Wrap = "HandlerTransactionScopeWrapper";

        public Step(TimeSpan timeout)
            : base(
                nameof(HandlerDeadline), typeof(HandlerDeadline), "Fails a message whose handlers took longer than their transaction's time-out.",
                _ => new HandlerDeadline(timeout)) =>
            InsertAfter(Wrap);
    }
}
