using Kit.Modes;
using MassTransit;
using MassTransit.Configuration;
using MassTransit.RabbitMqTransport;

namespace Kit.Endpoints.MassTransit;

/// <summary>
/// What a mode needs of all that is configured on its endpoint and its host, also after the mode. MassTransit calls it for each channel of the endpoint. If it
/// throws, the endpoint receives nothing, and its health and log say why.
/// </summary>
internal sealed class BeforeItReceives(IReceiveEndpointConfiguration endpoint, ReceiveSettings queue, TransactionMode mode)
{
    // The names with which MassTransit's filters describe themselves to a probe.
    private const string Retry = "retry";
    private const string Outbox = "outbox";
    private const string FilterType = "filterType";

    private int observers;

    /// <exception cref="NotSupportedException">A setting would make the mode weaker than it says. The message names it.</exception>
    public void Require(ChannelContext channel)
    {
        if (!channel.ConnectionContext.PublisherConfirmation)
        {
            throw new NotSupportedException(
                "A transaction mode needs the host's PublisherConfirmation, which is off: a send that the broker loses would not be noticed. Leave it on.");
        }

        RequireLasting();
        RequireNoRetry(Filters(), isWithin: mode.ImmediateRetries == 0);
        if (Interlocked.Increment(ref observers) == 1)
            endpoint.ReceiveEndpoint.ConnectSendObserver(new SendsNeedAQueue());
    }

    private void RequireLasting()
    {
        var lossy =
            queue.PurgeOnStartup ? "PurgeOnStartup: each start deletes what waits in it"
            : queue.AutoDelete ? "AutoDelete: the broker deletes it, with its messages, when the endpoint stops"
            : !queue.Durable ? "Durable = false: a restart of the broker deletes it, with its messages"
            : null;
        if (lossy is not null)
            throw new NotSupportedException($"Queue '{queue.QueueName}' loses messages by {lossy}. In no mode may what waits be lost: leave the default.");
    }

    private IDictionary<string, object> Filters()
    {
        try
        {
            return endpoint.ConsumePipe.GetProbeResult().Results;
        }
        catch (Exception failed)
        {
            throw new NotSupportedException(
                $"A filter of the endpoint did not describe itself, so {mode} cannot see where the retries are: its Probe threw {failed.Message}", failed);
        }
    }

    /// <summary>Filters of one pipe are an array, in their order: what follows an outbox is within it.</summary>
    private void RequireNoRetry(IDictionary<string, object> filter, bool isWithin)
    {
        foreach (var part in filter.Values)
        {
            var within = isWithin;
            foreach (var one in part as IDictionary<string, object>[] ?? (part is IDictionary<string, object> single ? [single] : []))
            {
                var type = one.TryGetValue(FilterType, out var name) ? name as string : null;
                if (within && type == Retry)
                    throw Refused();
                RequireNoRetry(one, within);
                within |= type == Outbox;
            }
        }
    }

    private NotSupportedException Refused() => new(
        mode.ImmediateRetries == 0
            ? $"The endpoint has a retry or a redelivery, and {mode} has one attempt: the rows and the sends of the one before would stay. Take it away."
            : $"A retry or a redelivery was set after {mode}, or on a consumer, a saga or a handler. It would be within the mode's outbox and transaction, " +
              "so what a failed attempt has sent and stored would stay. Set it on the endpoint, before UseTransactionMode, or take it away.");
}
