namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The broker cannot be reached, refuses, or is not as expected. The message says what to do.</summary>
public sealed class BrokerException(string message, Exception? innerException = null) : Exception(message, innerException)
{
    /// <summary>Whether a message that was to be published is the cause: no queue of the broker would take it.</summary>
    internal bool IsOfTheMessage { get; init; }

    /// <summary>Whether the broker answered that it does not take a message there at the moment: the queue is full.</summary>
    internal bool IsRefusal { get; init; }
}
