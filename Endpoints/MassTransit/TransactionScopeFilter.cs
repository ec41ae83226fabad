using Kit.Modes;
using MassTransit;
using MassTransit.Context;

namespace Kit.Endpoints.MassTransit;

/// <summary>
/// A TransactionScope around the consumer, with the kit's isolation level, flowing across awaits. MassTransit's own <c>UseTransaction</c> only
/// offers a transaction on the consume context: a consumer that does not ask for it runs without one.
/// </summary>
/// <remarks>
/// The consumer's token outlives the scope. What the consumer sends waits in the in-memory outbox until the scope has committed, and keeps the token with
/// which it was sent. When the connection is lost, the receive cancels its token. A send that does not hear of that is retried for ever, and the receive
/// endpoint waits for it before it connects again.
/// </remarks>
/// <param name="settings">The isolation level, and how long the consumer may take.</param>
internal sealed class TransactionScopeFilter<TMessage>(TransactionSettings settings) : IFilter<ConsumeContext<TMessage>>
    where TMessage : class
{
    public async Task Send(ConsumeContext<TMessage> context, IPipe<ConsumeContext<TMessage>> next)
    {
        // Not disposed: it ends with the source of this one receive, to which it is linked.
        var lasting = CancellationTokenSource.CreateLinkedTokenSource(context.CancellationToken);
        await DeadlineScope.RunAsync(settings, ConsumeAsync, context.CancellationToken);

        async Task ConsumeAsync(CancellationToken inTime)
        {
            await using var late = inTime.Register(lasting.Cancel);
            await next.Send(new TimedContext(context, lasting.Token));
        }
    }

    public void Probe(ProbeContext context) => context.CreateFilterScope("transactionScope").Add("timeout", settings.Timeout);

    private sealed class TimedContext(ConsumeContext<TMessage> context, CancellationToken cancellationToken) : ConsumeContextProxy<TMessage>(context)
    {
        public override CancellationToken CancellationToken => cancellationToken;
    }
}
