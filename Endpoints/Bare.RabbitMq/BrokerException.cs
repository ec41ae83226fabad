namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The broker cannot be reached, refuses, or has something other than what was expected; says what to do.</summary>
public sealed class BrokerException(string message, Exception? innerException = null) : Exception(message, innerException);
