using Kit.Modes;
using MassTransit;
using MassTransit.Context;

namespace Kit.Endpoints.MassTransit;

/// <summary>
/// A TransactionScope around the consumer, with the kit's isolation level, flowing across awaits. MassTransit's own <c>UseTransaction</c> only
/// offers a transaction on the consume context: a consumer that does not ask for it runs without one.
/// </summary>
/// <param name="settings">The isolation level, and how long the consumer may take.</param>
internal sealed class TransactionScopeFilter<TMessage>(TransactionSettings settings) : IFilter<ConsumeContext<TMessage>>
    where TMessage : class
{
    public Task Send(ConsumeContext<TMessage> context, IPipe<ConsumeContext<TMessage>> next) =>
        DeadlineScope.RunAsync(settings, inTime => next.Send(new TimedContext(context, inTime)), context.CancellationToken);

    public void Probe(ProbeContext context) => context.CreateFilterScope("transactionScope").Add("timeout", settings.Timeout);

    private sealed class TimedContext(ConsumeContext<TMessage> context, CancellationToken inTime) : ConsumeContextProxy<TMessage>(context)
    {
        public override CancellationToken CancellationToken => inTime;
    }
}
