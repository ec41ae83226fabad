using System.Transactions;
using Kit.Modes;
using MassTransit;

namespace Kit.Endpoints.MassTransit;

/// <summary>
/// A TransactionScope around the consumer, with the kit's isolation level, flowing through awaits. MassTransit's own <c>UseTransaction</c> only
/// offers a transaction on the consume context: a consumer that does not ask for it runs without.
/// </summary>
public sealed class TransactionScopeFilter<TMessage> : IFilter<ConsumeContext<TMessage>>
    where TMessage : class
{
    private static readonly TransactionOptions Options = new()
    {
        IsolationLevel = Enum.Parse<IsolationLevel>(TransactionMode.Isolation.ToString()),
        Timeout = TransactionManager.DefaultTimeout,
    };

    public async Task Send(ConsumeContext<TMessage> context, IPipe<ConsumeContext<TMessage>> next)
    {
        using var scope = new TransactionScope(TransactionScopeOption.RequiresNew, Options, TransactionScopeAsyncFlowOption.Enabled);
        await next.Send(context);
        scope.Complete();
    }

    public void Probe(ProbeContext context) => context.CreateFilterScope("transactionScope");
}
