using System.Collections.Concurrent;
using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// The exchanges of events, seen from one connection. Each type of event has a durable fanout exchange with its name, to which the subscribers' queues are
/// bound.
/// </summary>
internal sealed class EventExchanges(IConnection connection)
{
    private readonly ConcurrentDictionary<string, bool> declared = new(StringComparer.Ordinal);

    /// <summary>
    /// Creates the exchange if it is missing: a publish to a missing one would close its channel. Only the first time does this ask the broker.
    /// </summary>
    /// <exception cref="BrokerException">There is one with that name that does not do the same.</exception>
    public async Task DeclareAsync(string type)
    {
        if (declared.ContainsKey(type))
            return;

        // A refused declaration closes its channel.
        await using var channel = await connection.CreateChannelAsync();
        try
        {
            await channel.ExchangeDeclareAsync(type, ExchangeType.Fanout, durable: true, autoDelete: false);
        }
        catch (OperationInterruptedException refused) when (refused.ShutdownReason?.ReplyCode == 406)
        {
            throw new BrokerException(
                $"Exchange '{type}' already exists, and not as a durable fanout exchange: {refused.ShutdownReason.ReplyText} Delete it, or rename the event.",
                refused);
        }
        catch (OperationInterruptedException refused) when (connection.IsOpen)
        {
            // An administrator can have created it for a user who may only publish.
            if (!await IsThereAsync(type))
                throw new BrokerException($"The broker refuses exchange '{type}': {refused.ShutdownReason?.ReplyText ?? refused.Message}.", refused);
        }

        await BindEarlierAsync(type);
        declared[type] = true;
    }

    /// <summary>Declares the exchange again before the next event.</summary>
    public void Forget(string type) => declared.TryRemove(type, out _);

    private async Task<bool> IsThereAsync(string type)
    {
        await using var channel = await connection.CreateChannelAsync();
        try
        {
            await channel.ExchangeDeclarePassiveAsync(type);
            return true;
        }
        catch (OperationInterruptedException missing) when (missing.IsNotFound())
        {
            return false;
        }
    }

    /// <summary>
    /// Queues that subscribed with an earlier version of the kit are bound to an exchange whose name has versions. The broker gives a queue that is reached
    /// in two ways an event once.
    /// </summary>
    private async Task BindEarlierAsync(string type)
    {
        if (TypeNames.EarlierOf(type) is not { } earlier)
            return;

        await using var channel = await connection.CreateChannelAsync();
        try
        {
            await channel.ExchangeDeclarePassiveAsync(earlier);
            await channel.ExchangeBindAsync(destination: earlier, source: type, routingKey: "");
        }
        catch (OperationInterruptedException missing) when (missing.ShutdownReason?.ReplyCode == 404)
        {
            // Nobody has subscribed under that name.
        }
        catch (OperationInterruptedException refused) when (connection.IsOpen)
        {
            throw new BrokerException(
                $"Queues have subscribed to exchange '{earlier}', the event's name in an earlier version of the kit, and the broker does not let this user " +
                $"bind it to '{type}' (it takes read on '{type}' and write on '{earlier}'): {refused.ShutdownReason?.ReplyText ?? refused.Message}.",
                refused);
        }
    }
}
