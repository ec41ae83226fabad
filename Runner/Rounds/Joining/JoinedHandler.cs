using System.Text.Json;
using System.Threading.Channels;
using Kit.Runner.Stage;

namespace Kit.Runner.Rounds.Joining;

/// <summary>A handler process of another machine, as the runner sees it: lines that a worker passes on.</summary>
/// <param name="worker">The number of that worker.</param>
/// <param name="say">Sends the worker a line for the process; <see langword="null"/> ends the process.</param>
/// <param name="isTiered">True if it runs with tiered compilation.</param>
internal sealed class JoinedHandler(int worker, Action<string?> say, bool isTiered) : IHandlerLines
{
    // A worker ends a process within 5 s or kills it.
    private static readonly TimeSpan ToEnd = TimeSpan.FromSeconds(15);

    private readonly Channel<string> heard = Channel.CreateUnbounded<string>();

    public int Worker => worker;

    public Task OrderAsync(HandlerSpec spec, CancellationToken cancellationToken) =>
        SayAsync(JsonSerializer.Serialize(WorkerOrder.Of(spec, isTiered)), cancellationToken);

    public Task SayAsync(string line, CancellationToken cancellationToken)
    {
        say(line);
        return Task.CompletedTask;
    }

    public async Task<string?> HearAsync() =>
        await heard.Reader.WaitToReadAsync() && heard.Reader.TryRead(out var line) ? line : null;

    public Task<string> ReadRemedyAsync() => Task.FromResult($"See the terminal of worker {worker}.");

    /// <summary>Passes on a line of the process; <see langword="null"/>: it has ended.</summary>
    public void Hear(string? line)
    {
        if (line is null)
            heard.Writer.TryComplete();
        else
            heard.Writer.TryWrite(line);
    }

    /// <summary>Nothing more will be heard.</summary>
    public void Lose(WorkerLostException cause) => heard.Writer.TryComplete(cause);

    public async Task EndAsync()
    {
        say(obj: null);
        await Task.WhenAny(heard.Reader.Completion, Task.Delay(ToEnd));
        Lose(new WorkerLostException($"worker {worker} did not end its handler process within {ToEnd.TotalSeconds} s"));
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
