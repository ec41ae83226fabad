using Microsoft.Extensions.Logging;
using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// Creates the queues of an endpoint that are not there, and looks at those that are: another type is refused, and what can lose messages
/// is warned of. No queue that is there is declared with other arguments or changed.
/// </summary>
internal sealed partial class QueueCheck(QueueNames names, RabbitMqAddress broker, ILogger log)
{
    /// <exception cref="BrokerException">A queue is there and of another type.</exception>
    public async Task RunAsync(IConnection connection, CancellationToken cancellationToken)
    {
        using var management = new ManagementApi(broker);
        string? silent = null;
        foreach (var queue in await names.CreateMissingAsync(connection, cancellationToken))
        {
            if (silent is null)
                silent = await LookAsync(queue, management, cancellationToken);
            if (silent is not null)
                await DeclareAsync(queue, silent, connection, cancellationToken);
        }
    }

    /// <returns>Why the plugin, which alone tells of policies, tells nothing.</returns>
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
            ?? "no argument is different.";
        if (names.Type is QueueType.Quorum)
            LogUnseenLimit(queue, silent, different);
        else
            LogUnseenPolicy(queue, silent, different);
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Concern}")]
    private partial void LogConcern(string concern);

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "The delivery limit of queue '{Queue}', which was there, could not be looked at: {Reason} " +
                  "The broker's answer to a declaration: {Difference}")]
    private partial void LogUnseenLimit(string queue, string reason, string difference);

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "The policy of queue '{Queue}', which was there, could not be looked at: {Reason} " +
                  "The broker's answer to a declaration: {Difference}")]
    private partial void LogUnseenPolicy(string queue, string reason, string difference);
}
