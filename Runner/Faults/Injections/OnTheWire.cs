using System.Text;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Injections;

/// <summary>At the last of several patterns, a connection is held and the process killed, or the connection is cut.</summary>
internal sealed class OnTheWire(ConnectionTo connection, IReadOnlyList<ReadOnlyMemory<byte>> patterns, CutMoment moment, bool kills) : OneMessage
{
    private ArmedFault? armed;

    /// <summary>True if the handler must have returned before; otherwise the patterns matched something earlier.</summary>
    private bool IsAfterHandler { get; init; } = true;

    // Without a row, nothing has committed before the handler returns: its sends come with that commit or after it.
    public static Injection KillBeforeCommit(Cell cell, Guid chosen) =>
        cell.Mode.RowCommit is RowCommit.EachStatement ? new KillWhereParked(AttemptPoint.BeforeInsert)
        : RowsOf(cell) == 0 ? new KillWhereParked(AttemptPoint.AfterSend)
        : AtCommit(cell, chosen, CutMoment.BeforeForwarding, kills: true);

    public static Injection KillBeforeDispatch(Cell cell, Guid chosen) => cell.Mode.RowCommit switch
    {
        RowCommit.EachStatement => new KillWhereParked(AttemptPoint.AfterSecondInsert),
        RowCommit.Once => AtCommit(cell, chosen, CutMoment.BeforeAnswer, kills: true),
        RowCommit.WithReceive or RowCommit.InTwoPhases => new NoWindow("rows and sends commit as one unit"),
        var other => throw new NotSupportedException($"It is not defined when rows and sends commit if rows commit {other}."),
    };

    // Only the body of the handler's outgoing message contains the id; nothing else that goes to a broker does.
    public static Injection KillAtDispatch(Guid chosen) =>
        new OnTheWire(ConnectionTo.Transport, PatternsOf([WireMark.TextId], chosen), CutMoment.BeforeForwarding, kills: true) { IsAfterHandler = false };

    // If sends commit with the receive, it is the moment before that commit: only the rows are committed.
    public static Injection KillBeforeAcknowledgement(Cell cell, Guid chosen)
    {
        if (cell.Mode.RowCommit is RowCommit.InTwoPhases or RowCommit.WithReceive)
            return new NoWindow("sends and receive commit as one unit");
        if (!cell.Mode.CommitOrder.IsMessageLeftInHandler)
            return new KillWhereParked(AttemptPoint.AfterSend);
        if (RowsOf(cell) == 0 && !Transport.Of(cell).IsBroker && cell.Mode != TransactionMode.Outbox)
            return new NoWindow("sends and receive commit as one unit, and there is no row");

        return new OnTheWire(
            ConnectionTo.Transport,
            AcknowledgementOf(cell) is { } acknowledgement ? [acknowledgement] : DecisionOf(cell, chosen),
            CutMoment.BeforeForwarding,
            kills: true);
    }

    public static Injection CutAtCommit(Cell cell, Guid chosen) => cell.Mode.RowCommit is RowCommit.EachStatement
        ? new OnTheWire(ConnectionTo.Widgets, PatternsOf([WireMark.BinaryId], chosen), CutMoment.BeforeAnswer, kills: false) { IsAfterHandler = false }
        : AtCommit(cell, chosen, CutMoment.BeforeAnswer, kills: false);

    public static Injection CutAtReceive(Cell cell, Guid chosen)
    {
        if (cell.Mode.RowCommit is RowCommit.WithReceive)
            return AtCommit(cell, chosen, CutMoment.BeforeAnswer, kills: false);
        if (!cell.Mode.CommitOrder.IsMessageLeftInHandler)
            return NoWindow.ReceivedBefore;

        return AcknowledgementOf(cell) is { } acknowledgement
            ? new OnTheWire(ConnectionTo.Transport, [acknowledgement], CutMoment.BeforeForwarding, kills: false)
            : new OnTheWire(ConnectionTo.Transport, DecisionOf(cell, chosen), CutMoment.BeforeAnswer, kills: false);
    }

    public static Injection KillAfterPrepare(Cell cell, Guid chosen) => AtCommit(cell, chosen, CutMoment.BeforeAnswer, kills: true);

    public static Injection KillAfterDecision(Cell cell, Guid chosen) =>
        new OnTheWire(ConnectionTo.Transport, DecisionOf(cell, chosen), CutMoment.BeforeAnswer, kills: true);

    protected override Task ArmAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        var proxy = connection is ConnectionTo.Widgets ? scene.Testbed.WidgetsProxy : scene.Testbed.TransportProxy;
        armed = proxy.CutAt(patterns, moment, kills ? Ending.Hold : Ending.Cut);
        return Task.CompletedTask;
    }

    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        if (!await scene.UntilAsync(() => Task.FromResult(armed!.Fired.IsCompleted), cancellationToken))
            return false;

        scene.Tell(
            $"the proxy found its bytes on the connection to the {Words.Of(connection)} and {(kills ? "held" : "cut")} it ({Words.Of(moment)})");
        return true;
    }

    protected override async Task<string?> AfterAsync(FaultScene scene, bool hasFired, CancellationToken cancellationToken)
    {
        if (hasFired && IsAfterHandler && !scene.Testbed.Journal.LinesOf(scene.Chosen).Any(line => line.Point is AttemptPoint.Returned))
            return "the fault fired before the handler had returned";
        if (kills)
            await scene.KillAsync(cancellationToken);
        return null;
    }

    /// <summary>
    /// The injection at the end of the handler's transaction, recognized by its rows earlier on the connection: frameworks commit other things too.
    /// </summary>
    private static OnTheWire AtCommit(Cell cell, Guid chosen, CutMoment moment, bool kills) => new(
        ConnectionTo.Widgets,
        PatternsOf(
            cell.Mode.RowCommit is RowCommit.InTwoPhases
                ? [WireMark.BinaryId, WireMark.Prepare]
                : cell.Kind.Facts.CommitOfRows(new MetCommit(cell.Mode, RowsOf(cell), IsPrevented: moment is CutMoment.BeforeForwarding)),
            chosen),
        moment,
        kills);

    /// <summary>
    /// The commit of the receive, recognized by the send before it. The driver's own two-phase commit prepares the queue too, and decides
    /// by committing its branch first.
    /// </summary>
    /// <exception cref="NotSupportedException">The framework has no queues in a database.</exception>
    private static IReadOnlyList<ReadOnlyMemory<byte>> DecisionOf(Cell cell, Guid chosen)
    {
        var facts = cell.Kind.Facts;
        var marks = cell.Mode == TransactionMode.NpgsqlScope ? [WireMark.CommitPrepared]
            : cell.Mode.RowCommit is RowCommit.InTwoPhases && !Transport.Of(cell).HoldsWidgets ? facts.DecisionOnTwoServers
            : facts.CommitOfReceive;
        return PatternsOf(
            marks ?? throw new NotSupportedException($"{facts.Title} does not say how the commit of a receive looks on the wire."), chosen);
    }

    private static ReadOnlyMemory<byte>? AcknowledgementOf(Cell cell) => Transport.Of(cell).ProxyRoute?.Acknowledgement;

    /// <summary>The rows of an attempt.</summary>
    private static int RowsOf(Cell cell) => HandlerShape.Of(cell).Inserts;

    private static IReadOnlyList<ReadOnlyMemory<byte>> PatternsOf(IReadOnlyList<WireMark> marks, Guid chosen) =>
        [.. marks.Select(mark => BytesOf(mark, chosen))];

    private static ReadOnlyMemory<byte> BytesOf(WireMark mark, Guid chosen) => mark switch
    {
        // In PostgreSQL's binary format: big-endian.
        WireMark.BinaryId => chosen.ToByteArray(bigEndian: true),
        WireMark.TextId => Encoding.ASCII.GetBytes(chosen.ToString()),
        WireMark.Commit => "COMMIT\0"u8.ToArray(),
        WireMark.Prepare => "PREPARE TRANSACTION"u8.ToArray(),
        WireMark.CommitPrepared => "COMMIT PREPARED"u8.ToArray(),
        // Its type, its length, no name and no limit of rows.
        WireMark.Execution => new byte[] { (byte)'E', 0, 0, 0, 9, 0, 0, 0, 0, 0 },
        // The message that ends each request of the extended query protocol: its type and its length.
        WireMark.EndOfRequest => new byte[] { (byte)'S', 0, 0, 0, 4 },
        _ => throw new NotSupportedException($"It is not defined which bytes are {mark}."),
    };
}

/// <summary>The endpoint's connection that a fault meets: each has its own proxy.</summary>
internal enum ConnectionTo
{
    Widgets,
    Transport,
}
