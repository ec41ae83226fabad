using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Injections;

/// <summary>A fault in one experiment with a cell: the script of its handler, and how the experiment meets it. Each kind is a file of this folder.</summary>
internal abstract class Injection
{
    private static readonly Dictionary<Fault, Func<Cell, Guid, Injection>> Ways = new()
    {
        [Fault.ThrowBeforeInsert] = (_, _) => new HandlerThrows(AttemptPoint.Started, "throws before its first insert", isOnce: true),
        [Fault.ThrowAfterInsert] = (_, _) => new HandlerThrows(AttemptPoint.AfterFirstInsert, "throws between its inserts", isOnce: true),
        [Fault.Poison] = (_, _) => new HandlerThrows(AttemptPoint.AfterFirstInsert, "throws between its inserts", isOnce: false),
        [Fault.LostDeadlock] = (_, _) => new LostDeadlock(),
        [Fault.SwallowedError] = (_, _) => new SwallowedError(),
        [Fault.FailedDispatch] = (cell, _) => WhereQueuesAreCreated(cell, () => new FailedDispatch()),
        [Fault.LateQueue] = (cell, _) => WhereQueuesAreCreated(cell, () => new LateQueue()),
        [Fault.ImmediateSend] = (_, _) => new ImmediateSend(),
        [Fault.SecondConnection] = (_, _) => new SecondConnection(),
        [Fault.ScopeTimesOut] = (cell, _) => WhereAScopeIs(cell, () => new ScopeTimesOut()),
        [Fault.FailedCommit] = (_, _) => new FailedCommit(),
        [Fault.KillBetweenInserts] = (_, _) => new KillWhereParked(AttemptPoint.AfterFirstInsert),
        [Fault.KillBeforeCommit] = OnTheWire.KillBeforeCommit,
        [Fault.KillBeforeDispatch] = OnTheWire.KillBeforeDispatch,
        [Fault.KillAtDispatch] = (cell, chosen) => WhereABrokerIs(cell, () => OnTheWire.KillAtDispatch(chosen)),
        [Fault.KillBeforeAcknowledgement] = OnTheWire.KillBeforeAcknowledgement,
        [Fault.CutAtCommit] = OnTheWire.CutAtCommit,
        [Fault.CutAtReceive] = OnTheWire.CutAtReceive,
        [Fault.KillAfterPrepare] = (cell, chosen) => WhereSomethingIsPrepared(cell, () => OnTheWire.KillAfterPrepare(cell, chosen)),
        [Fault.KillAfterDecision] = (cell, chosen) => WhereSomethingIsPrepared(cell, () => OnTheWire.KillAfterDecision(cell, chosen)),
        [Fault.RestartDatabase] = (_, _) => new Restart(ofQueue: false),
        [Fault.DatabaseAway] = (_, _) => new Restart(ofQueue: false) { StaysAway = true },
        [Fault.NetworkSilent] = (_, _) => new NetworkSilent(),
        [Fault.RestartBroker] = (cell, _) => WhereTheQueueHasItsServer(cell, () => new Restart(ofQueue: true)),
        [Fault.RestartBrokerHalfway] = (cell, _) => WhereTheQueueHasItsServer(cell, () => new Restart(ofQueue: true) { Depth = 0.5 }),
        [Fault.RestartBrokerLate] = (cell, _) => WhereTheQueueHasItsServer(cell, () => new Restart(ofQueue: true) { Depth = 0.9 }),
        [Fault.SentTwice] = (_, _) => new SentTwice(),
        [Fault.SlotsExhausted] = (cell, _) => WhereSomethingIsPrepared(cell, () => new SlotsExhausted()),
        [Fault.ServerReadOnly] = (cell, _) => WhereRowsBeginInHandler(cell, () => new ServerReadOnly()),
        [Fault.SettingsLeft] = (_, _) => new SettingsLeft(),
        [Fault.SendRefused] = (cell, _) => WhereABrokerIs(cell, () => new SendRefused()),
        [Fault.DeadLetterRefused] = (_, _) => new DeadLetterRefused(),
        [Fault.ReceiveLost] = (cell, _) => cell.Mode.CommitOrder.IsMessageLeftInHandler ? new ReceiveLost() : NoWindow.ReceivedBefore,
    };

    private static readonly IReadOnlyList<Fault> OfANamedQueue = [Fault.FailedDispatch, Fault.LateQueue, Fault.ImmediateSend, Fault.SendRefused];

    /// <summary>What the handler does when it has the chosen message.</summary>
    public virtual HandlerScript Script => HandlerScript.None;

    /// <summary>The gate for the endpoint's requests, which it arms; <see langword="null"/>: nothing on the wire is its moment.</summary>
    public virtual RequestGate? Gate => null;

    /// <summary>True if it affects every cell of its servers.</summary>
    public virtual bool NeedsTheServersAlone => false;

    /// <summary>True if every message meets it, and not only the chosen one.</summary>
    public virtual bool MeetsEveryMessage => false;

    /// <summary>True if an endpoint may be waiting with a message that no server has, and nothing changes meanwhile.</summary>
    public virtual bool MayHideWork => false;

    /// <summary>The injection for a handler of any shape: faults of a queue that the handler names do not meet a publisher, which names none.</summary>
    /// <inheritdoc cref="Of(Fault, Cell, Guid)" path="/exception"/>
    public static Injection Of(Fault fault, Cell cell, HandlerShape shape, Guid chosen) =>
        shape.Subscribers > 0 && OfANamedQueue.Contains(fault) ? new NoWindow("the handler names no queue: it publishes") : Of(fault, cell, chosen);

    /// <summary>The injection for a cell, or <see cref="NoWindow"/> if the cell has no such moment.</summary>
    /// <exception cref="NotSupportedException">It is not defined how to inject the fault.</exception>
    public static Injection Of(Fault fault, Cell cell, Guid chosen) => Ways.TryGetValue(fault, out var way)
        ? way(cell, chosen)
        : throw new NotSupportedException($"It is not defined how to inject '{fault}'.");

    /// <summary>Runs the experiment up to the messages after the fault.</summary>
    /// <returns>The reason why the fault did not fire; <see langword="null"/> if it did.</returns>
    public async Task<string?> InjectAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        await PrepareAsync(scene, cancellationToken);
        await scene.Testbed.StartHandlerAsync(scene.Chosen, Script, cancellationToken);
        return await MeetAsync(scene, cancellationToken);
    }

    /// <summary>Sets up the servers, before the endpoint connects to them.</summary>
    protected virtual Task PrepareAsync(FaultScene scene, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc cref="InjectAsync"/>
    protected abstract Task<string?> MeetAsync(FaultScene scene, CancellationToken cancellationToken);

    private static Injection WhereABrokerIs(Cell cell, Func<Injection> way) =>
        Transport.Of(cell).IsBroker ? way() : new NoWindow("the transport has no broker");

    private static Injection WhereTheQueueHasItsServer(Cell cell, Func<Injection> way) =>
        Transport.Of(cell).HoldsWidgets ? new NoWindow("the transport has no broker") : way();

    private static Injection WhereQueuesAreCreated(Cell cell, Func<Injection> way) =>
        cell.Kind.TakesUnknownQueues ? new NoWindow("the transport takes a message for any queue") : way();

    private static Injection WhereAScopeIs(Cell cell, Func<Injection> way) =>
        cell.Mode.CommitOrder.HasAmbientTransaction ? way() : new NoWindow("the handler has no ambient transaction");

    private static Injection WhereRowsBeginInHandler(Cell cell, Func<Injection> way) =>
        cell.Mode.RowCommit is RowCommit.WithReceive || cell.Kind.Facts.RowsBeginBeforeHandler == cell.Mode
            ? new NoWindow("the transaction for the rows begins before the handler")
            : way();

    private static Injection WhereSomethingIsPrepared(Cell cell, Func<Injection> way) =>
        cell.Mode.RowCommit is RowCommit.InTwoPhases ? way() : new NoWindow("nothing is prepared");
}

/// <summary>The cell has no such moment.</summary>
/// <param name="because">For a user.</param>
internal sealed class NoWindow(string because) : Injection
{
    public static NoWindow ReceivedBefore { get; } = new("the receive commits before the handler");

    public string Because => because;

    protected override Task<string?> MeetAsync(FaultScene scene, CancellationToken cancellationToken) => Task.FromResult<string?>(because);
}
