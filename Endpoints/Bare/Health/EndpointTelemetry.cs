using System.Diagnostics;

namespace Kit.Endpoints.Bare.Health;

/// <summary>
/// Activities and measurements of one endpoint's messages. A message carries the context of its creation in its headers, so that its processing
/// at any endpoint belongs to the same trace.
/// </summary>
/// <param name="system">The system that holds the queues: <c>postgresql</c>, <c>rabbitmq</c> or <c>microsoft.sql_server</c>.</param>
/// <param name="queue">The endpoint's queue.</param>
internal sealed class EndpointTelemetry(string system, string queue)
{
    private const string ErrorType = "error.type";
    private const string MessageId = "messaging.message.id";
    private const string OperationName = "messaging.operation.name";
    private const string OperationType = "messaging.operation.type";

    /// <summary>Sends a message to a queue in an activity of its own, whose context travels with the message.</summary>
    /// <param name="telemetry">The sender's; <see langword="null"/> if nothing is measured.</param>
    /// <param name="operation"><c>create</c> if the mode decides when it is sent, <c>send</c> if it is sent at once.</param>
    /// <param name="destination">The queue.</param>
    /// <param name="message">The message's id.</param>
    /// <param name="headers">The headers that the sender set.</param>
    /// <param name="send">Sends it, with headers that have the context.</param>
    public static async Task ProduceAsync(
        EndpointTelemetry? telemetry, string operation, string destination, Guid message, IReadOnlyDictionary<string, string> headers,
        Func<IReadOnlyDictionary<string, string>, Task> send)
    {
        using var activity = telemetry?.Produce(operation, destination, message);
        try
        {
            await send(TraceContext.Inject(headers));
        }
        catch (Exception failure)
        {
            Fail(activity, failure);
            throw;
        }
    }

    /// <summary>Starts the activity of one attempt at a message.</summary>
    public Activity? Process(Guid message, IReadOnlyDictionary<string, string> headers)
    {
        if (!EndpointMeter.Activities.HasListeners())
            return null;

        return EndpointMeter.Activities.StartActivity(
            $"process {queue}", ActivityKind.Consumer, TraceContext.Extract(headers), TagsOf("process", queue, message));
    }

    /// <summary>A message was received, and its handler is about to be called.</summary>
    public void Received(TimeSpan took)
    {
        if (!EndpointMeter.OperationDuration.Enabled && !EndpointMeter.Consumed.Enabled)
            return;

        var tags = TagsOf("receive", failure: null);
        EndpointMeter.OperationDuration.Record(took.TotalSeconds, tags);
        EndpointMeter.Consumed.Add(1, tags);
    }

    /// <summary>An attempt has ended.</summary>
    public void Processed(Activity? activity, TimeSpan took, Exception? failure)
    {
        if (EndpointMeter.ProcessDuration.Enabled)
            EndpointMeter.ProcessDuration.Record(took.TotalSeconds, TagsOf("process", failure));
        Fail(activity, failure);
    }

    /// <summary>The message is settled after the handler's return: it has left the queue, or is back in it.</summary>
    /// <param name="messageId">The message's id.</param>
    /// <param name="processing">The activity of its attempt.</param>
    /// <param name="took">The time since the handler's return.</param>
    /// <param name="failure">Why it is not settled, or why that is unknown.</param>
    public void Settled(Guid messageId, ActivityContext processing, TimeSpan took, Exception? failure)
    {
        if (EndpointMeter.OperationDuration.Enabled)
            EndpointMeter.OperationDuration.Record(took.TotalSeconds, TagsOf("settle", failure));
        if (!EndpointMeter.Activities.HasListeners())
            return;

        using var activity = EndpointMeter.Activities.StartActivity(
            $"settle {queue}", ActivityKind.Client, processing, TagsOf("settle", queue, messageId), links: null, DateTimeOffset.UtcNow - took);
        Fail(activity, failure);
    }

    private Activity? Produce(string operation, string destination, Guid message)
    {
        if (!EndpointMeter.Activities.HasListeners())
            return null;

        return EndpointMeter.Activities.StartActivity(
            $"{operation} {destination}", ActivityKind.Producer, parentContext: default, TagsOf(operation, destination, message));
    }

    /// <summary>Marks an activity as failed, with the reason, if there was a failure.</summary>
    private static void Fail(Activity? activity, Exception? failure)
    {
        if (failure is null)
            return;

        activity?.SetStatus(ActivityStatusCode.Error, failure.Message);
        activity?.SetTag(ErrorType, failure.GetType().FullName);
    }

    private TagList TagsOf(string operation, string destination, Guid messageId)
    {
        var tags = TagsOf(operation, destination);
        tags.Add(MessageId, messageId.ToString());
        return tags;
    }

    private TagList TagsOf(string operation, Exception? failure)
    {
        var tags = TagsOf(operation, queue);
        if (failure is not null)
            tags.Add(ErrorType, failure.GetType().FullName);

        return tags;
    }

    private TagList TagsOf(string operation, string destination) => new()
    {
        { "messaging.system", system },
        { "messaging.destination.name", destination },
        { OperationName, operation },
        { OperationType, operation },
    };
}
