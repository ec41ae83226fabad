using System.Diagnostics;
using System.Transactions;
using Kit.Modes;
using NServiceBus.Pipeline;

namespace Kit.Endpoints.NServiceBus;

/// <summary>
/// Fails a message whose handlers took longer than the time-out of their transaction, before NServiceBus's own wrap completes it: <c>dtc-off</c>.
/// </summary>
/// <remarks>
/// <para>
/// A scope that times out rolls back while the handler still runs. Npgsql then un-enlists the handler's connection, and what the handler writes on
/// it after that commits by itself. So the wrap has the longest time-out that the process allows, and the one that was asked for is judged here, when
/// the handlers have returned: until then all their work is in the transaction. NServiceBus offers no way to cancel the handler's token.
/// </para>
/// <para>
/// The limit: a handler that runs for longer than <see cref="TransactionManager.MaximumTimeout"/> (10 minutes, unless the process set another) is
/// un-enlisted all the same, and what it writes after that stays.
/// </para>
/// </remarks>
/// <param name="timeout">How long the handlers may take.</param>
internal sealed class HandlerDeadline(TimeSpan timeout) : Behavior<IIncomingPhysicalMessageContext>
{
    /// <exception cref="TimeoutException">The handlers returned after their time; nothing of their work is committed.</exception>
    public override async Task Invoke(IIncomingPhysicalMessageContext context, Func<Task> next)
    {
        var begun = Stopwatch.GetTimestamp();
        await next();
        if (Stopwatch.GetElapsedTime(begun) is var taken && taken >= timeout)
            throw TransactionTimeout.Exceeded(timeout, taken);
    }

    /// <summary>Its place: within NServiceBus's wrap. An endpoint that has no such step does not start.</summary>
    internal sealed class Step : RegisterStep
    {
        private const string Wrap = "HandlerTransactionScopeWrapper";

        public Step(TimeSpan timeout)
            : base(
                nameof(HandlerDeadline), typeof(HandlerDeadline), "Fails a message whose handlers took longer than their transaction may last.",
                _ => new HandlerDeadline(timeout)) =>
            InsertAfter(Wrap);
    }
}
