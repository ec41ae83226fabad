using MassTransit.Topology;

namespace Kit.Endpoints.MassTransit;

/// <summary>Where MassTransit puts the messages that it gives up, as its default formatter says.</summary>
public static class MassTransitErrorQueue
{
    private static readonly DefaultErrorQueueNameFormatter Formatter = new();

    /// <param name="queue">The endpoint's queue.</param>
    public static string Of(string queue) => Formatter.FormatErrorQueueName(queue);
}
