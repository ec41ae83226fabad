using MassTransit.Topology;

namespace Kit.Endpoints.MassTransit;

/// <summary>The error queue that MassTransit moves messages to, as its default formatter names it.</summary>
public static class MassTransitErrorQueue
{
    private static readonly DefaultErrorQueueNameFormatter Formatter = new();

    /// <param name="queue">The endpoint's queue.</param>
    public static string Of(string queue) => Formatter.FormatErrorQueueName(queue);
}
