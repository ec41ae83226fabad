using System.Net.Sockets;
using System.Threading.Channels;

namespace Kit.Runner.Wire;

/// <summary>One direction of a filtered connection: pieces are sent in the order in which they are put in, by any thread.</summary>
internal sealed class SendLine : IAsyncDisposable
{
    private readonly Channel<byte[]> waiting = Channel.CreateUnbounded<byte[]>(new UnboundedChannelOptions { SingleReader = true });
    private readonly Task sending;

    /// <param name="broken">Called if one side has disappeared.</param>
    /// <param name="cancellationToken">Ends the line: pieces in it are dropped.</param>
    public SendLine(Func<byte[], CancellationToken, Task> send, Action broken, CancellationToken cancellationToken) =>
        sending = SendAsync(send, broken, cancellationToken);

    public void Add(byte[] piece) => waiting.Writer.TryWrite(piece);

    /// <summary>Waits until everything in it has been sent.</summary>
    public Task FinishAsync()
    {
        waiting.Writer.TryComplete();
        return sending;
    }

    public async ValueTask DisposeAsync() => await FinishAsync();

    private async Task SendAsync(Func<byte[], CancellationToken, Task> send, Action broken, CancellationToken cancellationToken)
    {
        try
        {
            await foreach (var piece in waiting.Reader.ReadAllAsync(cancellationToken))
                await send(piece, cancellationToken);
        }
        catch (OperationCanceledException)
        {
            // The connection has ended.
        }
        catch (SocketException)
        {
            broken();
        }
    }
}
