using MassTransit;

namespace Kit.Endpoints.MassTransit;

/// <summary>
/// Fails a consumer's send that no queue takes. It is an observer, because a caller sets the delay of a send after the endpoint's filters: the exchange for
/// delayed messages returns each as one without a queue, and delivers it all the same (rabbitmq-delayed-message-exchange, issue 7).
/// </summary>
internal sealed class SendsNeedAQueue : ISendObserver
{
    // Not for a reply, which asks for none itself, or a fault: their requester may be gone. An event, which may have no subscribers, does not come here.
    public Task PreSend<T>(SendContext<T> context)
        where T : class
    {
        var isDelayed = context.Delay > TimeSpan.Zero;
        var isReply = context.RequestId is not null && context.ResponseAddress is null;
        if (!isDelayed && !isReply && context is not SendContext<Fault> && context.TryGetPayload(out RabbitMqSendContext? rabbit))
            rabbit.Mandatory = true;
        return Task.CompletedTask;
    }

    public Task PostSend<T>(SendContext<T> context)
        where T : class => Task.CompletedTask;

    public Task SendFault<T>(SendContext<T> context, Exception exception)
        where T : class => Task.CompletedTask;
}
