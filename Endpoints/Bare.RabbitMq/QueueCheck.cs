using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// Creates missing queues of an endpoint, and checks all: it refuses a queue of another type, and warns of settings that can lose
/// messages. It changes no existing queue.
/// </summary>
internal sealed partial class QueueCheck(QueueNames names, RabbitMqAddress broker, ILogger log)
{
    /// <summary>False if the queues were there before, so that a missing one has lost its messages and its subscriptions.</summary>
    public bool MayBeNew { get; init; } = true;

    /// <exception cref="BrokerException">A queue exists with another type.</exception>
    public async Task RunAsync(IConnection connection, CancellationToken cancellationToken)
    {
        using var management = new ManagementApi(broker);
        string? silent = null;
        var found = await names.CreateMissingAsync(connection, cancellationToken);
        foreach (var queue in names.All)
        {
            if (!MayBeNew && !found.Contains(queue))
                LogMadeAgain(queue);
            // A policy can reach a new queue, too.
            silent ??= await LookAsync(queue, management, cancellationToken);
            if (silent is not null && found.Contains(queue))
                await DeclareAsync(queue, silent, connection, cancellationToken);
        }
    }

    /// <returns>Why the plugin, the only source for policies, says nothing; <see langword="null"/> if it does.</returns>
    private async Task<string?> LookAsync(string queue, ManagementApi management, CancellationToken cancellationToken)
    {
        QueueFacts facts;
        try
        {
            facts = await management.ReadQueueAsync(queue, cancellationToken);
        }
        catch (BrokerException failure)
        {
            return failure.Message;
        }

        if (!facts.Type.Equals(names.Type.ToString(), StringComparison.OrdinalIgnoreCase)
            || !facts.IsDurable
            || facts.IsDeletedWithItsConsumers)
        {
            var (durable, deleted) = (facts.IsDurable ? "" : ", not durable", facts.IsDeletedWithItsConsumers ? ", deleted with its consumers" : "");
            throw QueueDeclaration.OtherQueue(queue, names.Type, $"it is a {facts.Type} queue{durable}{deleted}.");
        }

        foreach (var concern in new QueueConcerns(facts, names, broker).Find())
            LogConcern(concern);

        return null;
    }

    private async Task DeclareAsync(string queue, string silent, IConnection connection, CancellationToken cancellationToken)
    {
        var different = await connection.RequireTypeAsync(queue, names.Type, names.ArgumentsOf(queue), cancellationToken)
            ?? "no argument differs.";
        if (names.Type is QueueType.Quorum)
            LogUnseenLimit(queue, silent, different);
        else
            LogUnseenPolicy(queue, silent, different);
    }

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "Queue '{Queue}' was no longer there and has been created again. Its messages are gone, and so are its subscriptions: " +
                  "whoever subscribed it must do it again.")]
    private partial void LogMadeAgain(string queue);

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Concern}")]
    private partial void LogConcern(string concern);

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "The delivery limit of the existing queue '{Queue}' could not be checked: {Reason} " +
                  "The broker's answer to a declaration: {Difference}")]
    private partial void LogUnseenLimit(string queue, string reason, string difference);

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "The policy of the existing queue '{Queue}' could not be checked: {Reason} " +
                  "The broker's answer to a declaration: {Difference}")]
    private partial void LogUnseenPolicy(string queue, string reason, string difference);
}
