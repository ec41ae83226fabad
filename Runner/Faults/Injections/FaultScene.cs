using System.Diagnostics;
using Kit.Endpoints.Cells;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Servers;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Faults.Injections;

/// <summary>One experiment, as its fault finds it: the cell, set up, the chosen message and the servers.</summary>
/// <param name="servers">One may be made to crash.</param>
/// <param name="away">Time for which a server stays down.</param>
/// <param name="tell">Receives the evidence that the fault has fired.</param>
internal sealed class FaultScene(Cell cell, Guid chosen, Testbed testbed, ServersInUse servers, TimeSpan away, Action<string> tell) : IAsyncDisposable
{
    /// <summary>Ordinary messages before and after the chosen one.</summary>
    public const int Ordinary = 10;

    /// <summary>Time for a process to start and handle a message, also on a busy machine.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    /// <summary>Time in which nothing that is counted may change.</summary>
    public static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(300);

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(25);

    private readonly Stack<IAsyncDisposable> kept = new();

    public Cell Cell => cell;

    public Guid Chosen => chosen;

    public Testbed Testbed => testbed;

    public ServersInUse Servers => servers;

    public TimeSpan Away => away;

    /// <summary>The moment before a server was made to crash; <see langword="null"/> if none was.</summary>
    public DateTimeOffset? Crashed { get; set; }

    /// <summary>The violation that other messages did not pass the chosen one while they should; <see langword="null"/> if they did, or need not.</summary>
    public Violation? Blocked { get; set; }

    /// <summary>True if a process that was to be killed had ended before.</summary>
    public bool HasMissedAKill { get; private set; }

    public void Tell(string evidence) => tell(evidence);

    /// <summary>Ends something with the experiment, if the fault has not ended it before.</summary>
    public T Keep<T>(T until) where T : IAsyncDisposable
    {
        kept.Push(until);
        return until;
    }

    /// <summary>Sends ordinary messages.</summary>
    /// <returns>Their ids.</returns>
    public async Task<IReadOnlyList<Guid>> SendOrdinaryAsync(CancellationToken cancellationToken, int count = Ordinary)
    {
        var ids = NewIds(count);
        await testbed.SendAsync(ids, cancellationToken);
        return ids;
    }

    /// <summary>True if the first messages are handled completely, so that the armed fault meets the chosen one.</summary>
    public Task<bool> AreHandledAsync(CancellationToken cancellationToken) => UntilAsync(
        async () =>
        {
            // While the process starts, the journal answers at less cost than the servers.
            if (StartedAttempts() < Ordinary
                || await testbed.CountAsync(cancellationToken) is not { AreDone: true } before || before.Sink != Ordinary * testbed.Shape.Deliveries)
                return false;

            await Task.Delay(Moment, cancellationToken);
            return await testbed.CountAsync(cancellationToken) == before;
        },
        cancellationToken);

    /// <summary>True if the journal says that the chosen message has met its fault.</summary>
    public Task<bool> HasFaultedAsync(CancellationToken cancellationToken) => UntilAsync(
        () =>
        {
            if (testbed.Journal.LinesOf(chosen).FirstOrDefault(line => line.Point is AttemptPoint.Faulted) is not { } met)
                return Task.FromResult(false);

            tell($"the journal of attempt {met.AttemptId} says: {met.Note}");
            return Task.FromResult(true);
        },
        cancellationToken);

    /// <summary>The attempts at the chosen message that have met their fault.</summary>
    public int Failures() => testbed.Journal.LinesOf(chosen).Count(line => line.Point is AttemptPoint.Faulted);

    public int StartedAttempts() => testbed.Journal.Count() / testbed.Shape.LinesPerAttempt;

    /// <summary>Kills the handler's process, and starts one that meets no fault.</summary>
    /// <param name="dead">Called between the two.</param>
    public async Task KillAsync(CancellationToken cancellationToken, Action? dead = null)
    {
        var code = await testbed.KillHandlerAsync();
        tell($"the handler process ended with exit code {code}");
        HasMissedAKill |= code != ChildProcess.Killed;
        dead?.Invoke();
        await testbed.StartHandlerAsync(chosen, HandlerScript.None, cancellationToken);
    }

    /// <returns>False if it does not come true in time.</returns>
    public async Task<bool> UntilAsync(Func<Task<bool>> condition, CancellationToken cancellationToken, TimeSpan? limit = null)
    {
        for (var watch = Stopwatch.StartNew(); !await condition(); await Task.Delay(Pause, cancellationToken))
        {
            testbed.ThrowIfBroken();
            if (watch.Elapsed > (limit ?? Patience))
                return false;
        }

        return true;
    }

    public static List<Guid> NewIds(int count = Ordinary) => [.. Enumerable.Range(0, count).Select(_ => Guid.CreateVersion7())];

    public async ValueTask DisposeAsync()
    {
        while (kept.TryPop(out var until))
            await until.DisposeAsync();
    }
}
