using RabbitMQ.Client;
using RabbitMQ.Client.Exceptions;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Opens connections to a broker, and says why if that fails.</summary>
internal static class Broker
{
    /// <exception cref="BrokerException">The connection failed. The message says why.</exception>
    public static Task<IConnection> ConnectAsync(RabbitMqAddress address, string name, CancellationToken cancellationToken) =>
        ConnectAsync(address, name, answers: null, cancellationToken);

    /// <summary>The same, with a time-out for the broker's answers on channels; <see langword="null"/> for the driver's.</summary>
    /// <inheritdoc cref="ConnectAsync(RabbitMqAddress, string, CancellationToken)" path="/exception"/>
    public static async Task<IConnection> ConnectAsync(RabbitMqAddress address, string name, TimeSpan? answers, CancellationToken cancellationToken)
    {
        try
        {
            return await OpenAsync(address, name, answers, cancellationToken);
        }
        catch (BrokerUnreachableException unreachable)
            when (unreachable.InnerException is AuthenticationFailureException or PossibleAuthenticationFailureException)
        {
            throw new BrokerException($"The broker refuses this user or password: {address}.", unreachable);
        }
        catch (OperationInterruptedException refused)
        {
            throw new BrokerException($"The broker refuses this user access: {address}: {refused.ShutdownReason?.ReplyText}.", refused);
        }
        catch (BrokerUnreachableException unreachable)
        {
            throw new BrokerException($"No RabbitMQ broker answers: {address}: {unreachable.InnerException?.Message ?? unreachable.Message}", unreachable);
        }
    }

    // The endpoint reconnects itself: with the driver's recovery, workers would acknowledge deliveries of an earlier channel.
    private static async Task<IConnection> OpenAsync(RabbitMqAddress address, string name, TimeSpan? answers, CancellationToken cancellationToken)
    {
        var connection = await address.ConnectAsync(name, timeout: null, answers, cancellationToken);
        try
        {
            // The driver does not wait for the broker's answer about the virtual host. Opening a first channel does.
            await using var channel = await connection.CreateChannelAsync(cancellationToken: cancellationToken);
            return connection;
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }
    }

    /// <summary>Whether the broker answered that there is no such queue.</summary>
    public static bool IsNotFound(this OperationInterruptedException failure) => failure.ShutdownReason?.ReplyCode == 404;
}
