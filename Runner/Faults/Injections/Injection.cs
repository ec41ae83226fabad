using System.Text;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Injections;

/// <summary>The way in which a fault is injected into a cell.</summary>
internal abstract record Injection
{
    private const string Commit = "COMMIT\0";
    private const string Prepare = "PREPARE TRANSACTION";
    private const string CommitPrepared = "COMMIT PREPARED";

    /// <summary>The message of PostgreSQL's protocol that ends each request of the extended query protocol: its type and its length.</summary>
    private static readonly ReadOnlyMemory<byte> Sync = new byte[] { (byte)'S', 0, 0, 0, 4 };

    /// <summary>The message that executes a statement: its type, its length, no name and no limit of rows.</summary>
    private static readonly ReadOnlyMemory<byte> Execute = new byte[] { (byte)'E', 0, 0, 0, 9, 0, 0, 0, 0, 0 };

    private static readonly Dictionary<Fault, Func<Cell, Guid, Injection>> Ways = new()
    {
        [Fault.ThrowBeforeInsert] = (_, _) => new InHandler(Behaviour.ThrowsBeforeInsert),
        [Fault.ThrowAfterInsert] = (_, _) => new InHandler(Behaviour.ThrowsAfterInsert),
        [Fault.Poison] = (_, _) => new InHandler(Behaviour.AlwaysThrows),
        [Fault.LostDeadlock] = (_, _) => new InHandler(Behaviour.Deadlocks),
        [Fault.SwallowedError] = (_, _) => new InHandler(Behaviour.SwallowsAnError),
        [Fault.FailedDispatch] = (_, _) => new InHandler(Behaviour.SendsToNowhere),
        [Fault.LateQueue] = (_, _) => new QueueComesLate(),
        [Fault.ImmediateSend] = (_, _) => new InHandler(Behaviour.SendsAtOnceAndThrows),
        [Fault.SecondConnection] = (_, _) => new InHandler(Behaviour.OpensASecondConnection),
        [Fault.ScopeTimesOut] = (_, _) => new InHandler(Behaviour.OutlivesItsTransaction),
        [Fault.FailedCommit] = (_, _) => new ByConstraint(),
        [Fault.KillBetweenInserts] = (_, _) => new KillWhereParked(AttemptPoint.AfterFirstInsert),
        // Without a row, nothing has committed before the handler returns: its sends come with that commit or after it.
        [Fault.KillBeforeCommit] = (cell, chosen) => cell.Mode.RowCommit is RowCommit.EachStatement
            ? new KillWhereParked(AttemptPoint.BeforeInsert)
            : RowsOf(cell) == 0 ? new KillWhereParked(AttemptPoint.AfterSend)
            : AtCommit(cell, chosen, CutMoment.BeforeForwarding, kills: true),
        [Fault.KillBeforeDispatch] = (cell, chosen) => cell.Mode.RowCommit switch
        {
            RowCommit.EachStatement => new KillWhereParked(AttemptPoint.AfterSecondInsert),
            RowCommit.Once => AtCommit(cell, chosen, CutMoment.BeforeAnswer, kills: true),
            RowCommit.WithReceive or RowCommit.InTwoPhases => new NoWindow("rows and sends commit as one unit"),
            var other => throw new NotSupportedException($"It is not defined when rows and sends commit if rows commit {other}."),
        },
        // Only the body of the handler's outgoing message contains the id; nothing else that goes to a broker does.
        [Fault.KillAtDispatch] = (cell, chosen) => WhereABrokerIs(
            cell,
            () => new OnTheWire(ConnectionTo.Transport, [Text(chosen.ToString())], CutMoment.BeforeForwarding, Kills: true) { IsAfterHandler = false }),
        [Fault.KillBeforeAcknowledgement] = BeforeAcknowledgement,
        [Fault.CutAtCommit] = (cell, chosen) => cell.Mode.RowCommit is RowCommit.EachStatement
            ? new OnTheWire(ConnectionTo.Widgets, [Uuid(chosen)], CutMoment.BeforeAnswer, Kills: false) { IsAfterHandler = false }
            : AtCommit(cell, chosen, CutMoment.BeforeAnswer, kills: false),
        [Fault.CutAtReceive] = (cell, chosen) => cell.Mode.RowCommit is RowCommit.WithReceive
            ? AtCommit(cell, chosen, CutMoment.BeforeAnswer, kills: false)
            : AtReceive(cell, chosen),
        [Fault.RestartDatabase] = (_, _) => new Restart(OfBroker: false),
        [Fault.DatabaseAway] = (_, _) => new Restart(OfBroker: false) { StaysAway = true },
        [Fault.NetworkSilent] = (_, _) => new GoesSilent(),
        [Fault.RestartBroker] = (cell, _) => RestartOfBroker(cell, Restart.AtTheBeginning),
        [Fault.RestartBrokerHalfway] = (cell, _) => RestartOfBroker(cell, depth: 0.5),
        [Fault.RestartBrokerLate] = (cell, _) => RestartOfBroker(cell, depth: 0.9),
        [Fault.SentTwice] = (_, _) => new ArrivesTwice(),
        [Fault.KillAfterPrepare] = (cell, chosen) => WhereSomethingIsPrepared(cell, () => AtCommit(cell, chosen, CutMoment.BeforeAnswer, kills: true)),
        [Fault.KillAfterDecision] = (cell, chosen) => WhereSomethingIsPrepared(
            cell, () => new OnTheWire(ConnectionTo.Transport, DecisionOf(cell, chosen), CutMoment.BeforeAnswer, Kills: true)),
        [Fault.SlotsExhausted] = (cell, _) => WhereSomethingIsPrepared(cell, () => new HoldsSlots()),
        [Fault.ServerReadOnly] = (_, _) => new TurnsReadOnly(),
        [Fault.SettingsLeft] = (_, _) => new LeavesSettings(),
        [Fault.SendRefused] = (cell, _) => WhereABrokerIs(cell, () => new SendsTooMuch()),
        [Fault.DeadLetterRefused] = (_, _) => new RefusesDeadLetter(),
        [Fault.ReceiveLost] = (cell, _) => HasReceivedBeforeHandler(cell) ? ReceivedBefore : new LosesReceive(),
    };

    private static readonly IReadOnlyList<Fault> OfANamedQueue = [Fault.FailedDispatch, Fault.LateQueue, Fault.ImmediateSend, Fault.SendRefused];

    private static NoWindow ReceivedBefore => new("the receive commits before the handler");

    /// <summary>The injection for a handler of any shape: faults of a queue that the handler names do not meet a publisher, which names none.</summary>
    /// <inheritdoc cref="Of(Fault, Cell, Guid)" path="/exception"/>
    public static Injection Of(Fault fault, Cell cell, HandlerShape shape, Guid chosen) =>
        shape.Subscribers > 0 && OfANamedQueue.Contains(fault) ? new NoWindow("the handler names no queue: it publishes") : Of(fault, cell, chosen);

    /// <summary>The injection for a cell, or <see cref="NoWindow"/> if the cell has no such moment.</summary>
    /// <exception cref="NotSupportedException">It is not defined how to inject the fault.</exception>
    public static Injection Of(Fault fault, Cell cell, Guid chosen) => Ways.TryGetValue(fault, out var way)
        ? way(cell, chosen)
        : throw new NotSupportedException($"It is not defined how to inject '{fault}'.");

    private static Injection RestartOfBroker(Cell cell, double depth) => Transport.Of(cell).HoldsWidgets
        ? new NoWindow("the transport has no broker")
        : new Restart(OfBroker: true) { Depth = depth };

    private static ReadOnlyMemory<byte>? AcknowledgementOf(Cell cell) => Transport.Of(cell).ProxyRoute?.Acknowledgement;

    private static bool HasReceivedBeforeHandler(Cell cell) => !cell.Mode.CommitOrder.IsMessageLeftInHandler;

    private static Injection WhereABrokerIs(Cell cell, Func<Injection> way) =>
        Transport.Of(cell).IsBroker ? way() : new NoWindow("the transport has no broker");

    private static Injection WhereSomethingIsPrepared(Cell cell, Func<Injection> way) =>
        cell.Mode.RowCommit is RowCommit.InTwoPhases ? way() : new NoWindow("nothing is prepared");

    /// <summary>
    /// The injection at the end of the handler's transaction, recognized by its rows earlier on the connection: frameworks commit other things too.
    /// </summary>
    private static OnTheWire AtCommit(Cell cell, Guid chosen, CutMoment moment, bool kills)
    {
        var id = Uuid(chosen);
        IReadOnlyList<ReadOnlyMemory<byte>> patterns = cell switch
        {
            // This commit is a prepared statement too, alone in the next request after the inserts. The request is a savepoint and the commit,
            // and the server executes each as it arrives: to prevent the commit, the request is held at the savepoint.
            { Kind.Framework: "bare", Mode: var mode } when mode == TransactionMode.DtcOff =>
                [.. Enumerable.Repeat(id, RowsOf(cell)), Sync, moment is CutMoment.BeforeForwarding ? Execute : Sync],
            { Mode: var mode } when mode.RowCommit is RowCommit.InTwoPhases => [id, Text(Prepare)],
            // A commit that is a prepared statement has no text; it is in one batch with the sends, which contain the id again.
            { Kind.Framework: "bare", Mode: var mode } when mode == TransactionMode.Outbox =>
                [id, .. Enumerable.Repeat(id, RowsOf(cell)), id],
            { Kind.Framework: "bare", Mode: var mode } when mode == TransactionMode.Shared => [.. Enumerable.Repeat(id, RowsOf(cell)), id],
            _ => [id, Text(Commit)],
        };
        return new OnTheWire(ConnectionTo.Widgets, patterns, moment, kills);
    }

    /// <summary>
    /// The commit of the receive, recognized by the send before it. The driver's own two-phase commit prepares the queue too, and decides
    /// by committing its branch first.
    /// </summary>
    private static IReadOnlyList<ReadOnlyMemory<byte>> DecisionOf(Cell cell, Guid chosen) => cell switch
    {
        { Mode: var mode } when mode == TransactionMode.NpgsqlScope => [Text(CommitPrepared)],
        // A prepared statement with the decision, and in the same request the commit, directly after the request with the send.
        { Mode.RowCommit: RowCommit.InTwoPhases } when !Transport.Of(cell).HoldsWidgets => [Uuid(chosen), Sync, Sync],
        { Kind.Framework: "nservicebus" } => [Text(chosen.ToString()), Text(Commit)],
        _ => [Uuid(chosen), Text(Commit)],
    };

    /// <summary>The rows of an attempt.</summary>
    private static int RowsOf(Cell cell) => HandlerShape.Of(cell).Inserts;

    // If sends commit with the receive, it is the moment before that commit: only the rows are committed.
    private static Injection BeforeAcknowledgement(Cell cell, Guid chosen)
    {
        if (cell.Mode.RowCommit is RowCommit.InTwoPhases or RowCommit.WithReceive)
            return new NoWindow("sends and receive commit as one unit");
        if (HasReceivedBeforeHandler(cell))
            return new KillWhereParked(AttemptPoint.AfterSend);
        if (RowsOf(cell) == 0 && !Transport.Of(cell).IsBroker && cell.Mode != TransactionMode.Outbox)
            return new NoWindow("sends and receive commit as one unit, and there is no row");

        return new OnTheWire(
            ConnectionTo.Transport,
            AcknowledgementOf(cell) is { } acknowledgement ? [acknowledgement] : DecisionOf(cell, chosen),
            CutMoment.BeforeForwarding,
            Kills: true);
    }

    private static Injection AtReceive(Cell cell, Guid chosen)
    {
        if (HasReceivedBeforeHandler(cell))
            return ReceivedBefore;

        return AcknowledgementOf(cell) is { } acknowledgement
            ? new OnTheWire(ConnectionTo.Transport, [acknowledgement], CutMoment.BeforeForwarding, Kills: false)
            : new OnTheWire(ConnectionTo.Transport, DecisionOf(cell, chosen), CutMoment.BeforeAnswer, Kills: false);
    }

    private static ReadOnlyMemory<byte> Text(string text) => Encoding.ASCII.GetBytes(text);

    /// <summary>An id in PostgreSQL's binary format: big-endian.</summary>
    private static ReadOnlyMemory<byte> Uuid(Guid id) => id.ToByteArray(bigEndian: true);
}

/// <summary>The cell has no such moment.</summary>
/// <param name="Because">For a user.</param>
internal sealed record NoWindow(string Because) : Injection;

/// <summary>The handler itself causes the fault.</summary>
internal sealed record InHandler(Behaviour Behaviour) : Injection;

/// <summary>A deferred constraint of the widgets' table fails once, for the chosen message.</summary>
internal sealed record ByConstraint : Injection;

/// <summary>The message is sent a second time, with its id, and its handler waits until the copy is there.</summary>
internal sealed record ArrivesTwice : Injection;

/// <summary>The handler sends to a queue that is created after the message was handled or dead-lettered.</summary>
internal sealed record QueueComesLate : Injection;

/// <summary>The handler stops at a point, and its process is killed there.</summary>
internal sealed record KillWhereParked(AttemptPoint Point) : Injection;

/// <summary>At the last of several patterns, a connection is held and the process killed, or the connection is cut.</summary>
internal sealed record OnTheWire(ConnectionTo Connection, IReadOnlyList<ReadOnlyMemory<byte>> Patterns, CutMoment Moment, bool Kills) : Injection
{
    /// <summary>True if the handler must have returned before; otherwise the patterns matched something earlier.</summary>
    public bool IsAfterHandler { get; init; } = true;
}

/// <summary>The fault comes during a drain, and meets every message.</summary>
internal abstract record MeetsADrain : Injection
{
    /// <summary>The default <see cref="Depth"/>.</summary>
    public const double AtTheBeginning = 0.05;

    /// <summary>The share of the messages that have been attempted when it comes.</summary>
    public double Depth { get; init; } = AtTheBeginning;
}

/// <summary>No byte arrives on any connection of the endpoint for a while.</summary>
internal sealed record GoesSilent : MeetsADrain
{
    /// <summary>Shorter than the time limits of drivers and brokers.</summary>
    public static TimeSpan Time { get; } = TimeSpan.FromSeconds(8);
}

/// <summary>A server crashes during a drain, and is started again.</summary>
/// <param name="OfBroker">True for the queue's own server, which is a database server on some transports.</param>
internal sealed record Restart(bool OfBroker) : MeetsADrain
{
    /// <summary>True if it stays down for the time of the plan, and not only until it has started again.</summary>
    public bool StaysAway { get; init; }
}

/// <summary>The endpoint's connection to its transport is cut whenever the handler has the chosen message.</summary>
internal sealed record LosesReceive : Injection;

/// <summary>Another application holds every prepared transaction that the server allows while the chosen message is in the queue.</summary>
internal sealed record HoldsSlots : Injection;

/// <summary>The server with the rows turns read-only when the handler has the chosen message, and back after a while.</summary>
internal sealed record TurnsReadOnly : Injection;

/// <summary>The handler leaves a search path on which each table of the widgets' database is hidden by another one of its name.</summary>
internal sealed record LeavesSettings : Injection;

/// <summary>The handler sends a message that the broker refuses, while others are handled.</summary>
internal sealed record SendsTooMuch : Injection;

/// <summary>The handler fails for good, and its error queue takes nothing until other messages were handled.</summary>
internal sealed record RefusesDeadLetter : Injection;

/// <summary>The endpoint's connection that a fault meets: each has its own proxy.</summary>
internal enum ConnectionTo
{
    Widgets,
    Transport,
}
