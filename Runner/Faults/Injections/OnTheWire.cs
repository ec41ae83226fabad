using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Injections;

/// <summary>The fault meets one request of the handling on a connection of the endpoint, in one of the ways of points.</summary>
internal sealed class OnTheWire(ConnectionTo connection, MarkedRequest request, PointWay way) : OneMessage
{
    public override RequestGate Gate { get; } = new();

    /// <summary>True if the handler must have returned before: a message that is stored in an inbox is in an earlier commit, too.</summary>
    private bool IsAfterHandler { get; init; } = true;

    // Without a row, nothing has committed before the handler returns: its sends come with that commit or after it.
    public static Injection KillBeforeCommit(Cell cell, Guid chosen) =>
        cell.Mode.RowCommit is RowCommit.EachStatement ? new KillWhereParked(AttemptPoint.BeforeInsert)
        : HandlerShape.Of(cell).Inserts == 0 ? new KillWhereParked(AttemptPoint.AfterSend)
        : AtCommit(cell, chosen, PointWay.NeverSent);

    public static Injection KillBeforeDispatch(Cell cell, Guid chosen) => cell.Mode.RowCommit switch
    {
        RowCommit.EachStatement => new KillWhereParked(AttemptPoint.AfterSecondInsert),
        RowCommit.Once => AtCommit(cell, chosen, PointWay.Killed),
        RowCommit.WithReceive or RowCommit.InTwoPhases => new NoWindow("rows and sends commit as one unit"),
        var other => throw new NotSupportedException($"It is not defined when rows and sends commit if rows commit {other}."),
    };

    // Only the handler's outgoing message carries the id; nothing else that goes to a broker does.
    public static Injection KillAtDispatch(Guid chosen) =>
        new OnTheWire(ConnectionTo.Transport, new MarkedRequest { Carries = chosen }, PointWay.NeverSent) { IsAfterHandler = false };

    // If sends commit with the receive, it is the moment before that commit: only the rows are committed.
    public static Injection KillBeforeAcknowledgement(Cell cell, Guid chosen)
    {
        if (cell.Mode.RowCommit is RowCommit.InTwoPhases or RowCommit.WithReceive)
            return new NoWindow("sends and receive commit as one unit");
        if (!cell.Mode.CommitOrder.IsMessageLeftInHandler)
            return new KillWhereParked(AttemptPoint.AfterSend);
        if (EndsWithRows(cell))
            return new NoWindow("the receive commits with the rows");
        if (HandlerShape.Of(cell).Inserts == 0 && !Transport.Of(cell).IsBroker && cell.Mode != TransactionMode.Outbox)
            return new NoWindow("sends and receive commit as one unit, and there is no row");

        return AtEndOfReceive(cell, chosen, PointWay.NeverSent);
    }

    public static Injection CutAtCommit(Cell cell, Guid chosen) => cell.Mode.RowCommit is RowCommit.EachStatement
        ? new OnTheWire(ConnectionTo.Widgets, new MarkedRequest { Carries = chosen }, PointWay.Cut) { IsAfterHandler = false }
        : AtCommit(cell, chosen, PointWay.Cut);

    public static Injection CutAtReceive(Cell cell, Guid chosen) =>
        cell.Mode.RowCommit is RowCommit.WithReceive || EndsWithRows(cell) ? AtCommit(cell, chosen, PointWay.Cut)
        : !cell.Mode.CommitOrder.IsMessageLeftInHandler ? NoWindow.ReceivedBefore
        // A broker that has got the acknowledgement is done with the message.
        : AtEndOfReceive(cell, chosen, Transport.Of(cell).IsBroker ? PointWay.CutBefore : PointWay.Cut);

    public static Injection KillAfterPrepare(Cell cell, Guid chosen) => AtCommit(cell, chosen, PointWay.Killed);

    public static Injection KillAfterDecision(Cell cell, Guid chosen) => AtEndOfReceive(cell, chosen, PointWay.Killed);

    protected override Task ArmAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        var server = connection is ConnectionTo.Widgets ? scene.Testbed.WidgetsServer : scene.Testbed.TransportServer;
        Gate.Arm(request with { Server = server, IsDue = IsAfterHandler ? HasReturned : null }, way);
        return Task.CompletedTask;

        bool HasReturned() => scene.Testbed.Journal.LinesOf(scene.Chosen).Any(line => line.Point is AttemptPoint.Returned);
    }

    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        var hasFired = await scene.UntilAsync(() => Task.FromResult(Gate.Fired.IsCompleted), cancellationToken);
        Gate.ThrowIfFailed();
        if (hasFired)
            scene.Tell($"the proxy met {request} on the connection to the {Words.Of(connection)}: it {way.Facts().Happened}");
        return hasFired;
    }

    protected override async Task<string?> AfterAsync(FaultScene scene, bool hasFired, CancellationToken cancellationToken)
    {
        // Also if it shows nothing: a process whose requests do not pass could not be stopped.
        if (way.Facts().KillsProcess)
            await scene.KillAsync(cancellationToken, dead: () => Gate.Release());
        else
            Gate.Release();
        return null;
    }

    /// <summary>The injection at the end of the handler's transaction. Frameworks commit other things too, which do not carry the id.</summary>
    private static OnTheWire AtCommit(Cell cell, Guid chosen, PointWay way) => new(
        ConnectionTo.Widgets,
        new MarkedRequest
        {
            Text = cell.Mode.RowCommit is RowCommit.InTwoPhases ? MarkedRequest.Prepare : MarkedRequest.Commit,
            Follows = chosen,
        },
        way);

    private static OnTheWire AtEndOfReceive(Cell cell, Guid chosen, PointWay way) => new(ConnectionTo.Transport, EndOfReceive(cell, chosen), way);

    /// <summary>
    /// The acknowledgement, or the commit of the receive: a framework's outbox can send in another transaction before it. The driver's own two-phase commit
    /// prepares the queue too, and decides by committing its branch first.
    /// </summary>
    internal static MarkedRequest EndOfReceive(Cell cell, Guid chosen) =>
        Transport.Of(cell).IsBroker ? new MarkedRequest { Text = "basic.ack" }
        : cell.Mode == TransactionMode.NpgsqlScope ? new MarkedRequest { Text = MarkedRequest.CommitPrepared }
        : cell.Kind.Facts.EndOfReceive is { } statement ? new MarkedRequest { Text = statement, Carries = chosen }
        : new MarkedRequest { Text = MarkedRequest.Commit, EndsReceive = true };

    private static bool EndsWithRows(Cell cell) => cell.Kind.Facts.ReceiveEndsWithRows == cell.Mode;
}

/// <summary>The endpoint's connection that a fault meets: each has its own proxy.</summary>
internal enum ConnectionTo
{
    Widgets,
    Transport,
}
