using Kit.Endpoints.Bare.PostgreSql.TwoPhase;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>A receiver whose handlers work on the queue's server, which was proved for its session.</summary>
internal sealed class ProvedReceiver(IReceiver receiver, OneServer server) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        // A handler's connection reached another server: the session ends, and the next one is proved anew.
        if (server.Refusal is { } refusal)
            throw refusal;

        return await receiver.ReceiveAsync(cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        await server.DisposeAsync();
        await receiver.DisposeAsync();
    }
}
