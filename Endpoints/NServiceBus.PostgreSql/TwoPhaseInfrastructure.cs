using Npgsql;
using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>The transport's infrastructure, with other receivers.</summary>
internal sealed class TwoPhaseInfrastructure : TransportInfrastructure
{
    private readonly TransportInfrastructure inner;
    private readonly NpgsqlDataSource source;

    /// <param name="inner">The transport's own.</param>
    /// <param name="source">The transport's connections. Disposed of at the shutdown.</param>
    /// <param name="wrap">Replaces a receiver.</param>
    public TwoPhaseInfrastructure(TransportInfrastructure inner, NpgsqlDataSource source, Func<IMessageReceiver, IMessageReceiver> wrap)
    {
        this.inner = inner;
        this.source = source;
        Dispatcher = inner.Dispatcher;
        Receivers = inner.Receivers.ToDictionary(receiver => receiver.Key, receiver => wrap(receiver.Value));
    }

    public override async Task Shutdown(CancellationToken cancellationToken = default)
    {
        try
        {
            foreach (var receiver in Receivers.Values)
                await receiver.StopReceive(cancellationToken);
        }
        finally
        {
            await inner.Shutdown(cancellationToken);
            foreach (var receiver in Receivers.Values.OfType<IAsyncDisposable>())
                await receiver.DisposeAsync();

            await source.DisposeAsync();
        }
    }

    public override string ToTransportAddress(QueueAddress address) => inner.ToTransportAddress(address);
}
