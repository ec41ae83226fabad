using Kit.Runner.Results.Faults;

namespace Kit.Runner.Faults.Points;

/// <summary>
/// All connections of one process, whose requests it numbers as they pass. It stops the process's traffic before or after one of them.
/// </summary>
internal sealed class RequestGate
{
    /// <summary>How long servers have, after the traffic has stopped, to show that they have acted on everything before.</summary>
    private static readonly TimeSpan ToSettle = TimeSpan.FromSeconds(5);

    private readonly Lock deciding = new();
    private readonly List<GatedConnection> connections = [];
    private readonly List<SeenRequest> seen = [];
    private TaskCompletionSource fired = new();
    private (RequestId Id, PointWay Way)? target;
    private bool isCounting;
    private int opened;
    private int sent;
    private int answered;

    /// <summary>Completes when the process may be killed, or the connection was cut, or its answer is withheld.</summary>
    public Task Fired => fired.Task;

    /// <summary>Whether nothing passes any more.</summary>
    public bool IsFrozen { get; private set; }

    /// <summary>Whether every server has acted on everything that it was asked.</summary>
    public bool IsSettled
    {
        get
        {
            lock (deciding)
                return connections.TrueForAll(connection => connection.Wire.IsSettled);
        }
    }

    /// <summary>How many requests have passed since it began to count.</summary>
    public int Count
    {
        get
        {
            lock (deciding)
                return seen.Count;
        }
    }

    /// <summary>A filter for a new connection.</summary>
    public IConnectionFilter Open(string server, IWireProtocol wire, ConnectionSides sides)
    {
        lock (deciding)
        {
            var connection = new GatedConnection(this, deciding, server, ++opened, wire, sides);
            connections.Add(connection);
            return connection;
        }
    }

    /// <summary>Counts requests from now on. Those of a transaction that is open now are not counted.</summary>
    public void Record() => Begin(stopAt: null);

    /// <summary>Counts requests from now on, and stops at one.</summary>
    public void Arm(RequestId id, PointWay way) => Begin((id, way));

    /// <summary>Stops counting, and lets everything pass that comes from now on.</summary>
    /// <returns>The requests in the order in which they were sent. Those of transactions that are still open are left out.</returns>
    public IReadOnlyList<SeenRequest> Release()
    {
        lock (deciding)
        {
            (target, isCounting, IsFrozen) = (null, false, false);
            return
            [
                .. from one in seen
                   let connection = connections.Find(connection => connection.Number == one.Connection)
                   where connection?.Wire.OpenTransaction != one.Request.Transaction
                   where one.Request.IsAnswered || !one.Request.HasAnswer
                   select one,
            ];
        }
    }

    /// <summary>What to do with a request that is about to be sent.</summary>
    internal GateDecision Decide(GatedConnection connection, WireRequest request)
    {
        if (!isCounting || connection.IsIgnored)
            return GateDecision.Pass;

        var text = StatementText.Normal(request.Text);
        seen.Add(new SeenRequest(connection.Server, text, connection.Number, request));
        if (target is not var (id, way) || id.Server != connection.Server || id.Text != text)
            return GateDecision.Pass;

        sent++;
        return way is not PointWay.NeverSent ? GateDecision.Watch : sent == id.Sent ? GateDecision.Stop : GateDecision.Pass;
    }

    /// <summary>The way, if this answered request is the one to stop at; otherwise <see langword="null"/>.</summary>
    internal PointWay? FindIn(WireRequest request) =>
        target is var (id, way) && (!request.HasAnswer || request.Outcome == id.Outcome) && ++answered == id.Answered ? way : null;

    /// <summary>Lets nothing pass any more, and reports it when every server has acted on what it was asked before.</summary>
    internal void Freeze()
    {
        (IsFrozen, target) = (true, null);
        foreach (var connection in connections)
            connection.Prove();
        var stopped = fired;
        _ = Task.Delay(ToSettle).ContinueWith(_ => stopped.TrySetResult(), TaskScheduler.Default);
        FireIfSettled();
    }

    /// <summary>Reports a freeze when every server has acted.</summary>
    internal void FireIfSettled()
    {
        if (IsFrozen && connections.TrueForAll(connection => connection.Wire.IsSettled))
            Fire();
    }

    internal void Fire()
    {
        target = null;
        // Continuations must not run within the lock.
        _ = Task.Run(fired.TrySetResult);
    }

    internal void Close(GatedConnection connection)
    {
        connections.Remove(connection);
        FireIfSettled();
    }

    private void Begin((RequestId Id, PointWay Way)? stopAt)
    {
        lock (deciding)
        {
            seen.Clear();
            fired = new TaskCompletionSource();
            (target, sent, answered, isCounting) = (stopAt, 0, 0, true);
            foreach (var connection in connections)
                connection.IgnoreOpenTransaction();
        }
    }
}

/// <summary>What to do with a request.</summary>
internal enum GateDecision
{
    Pass,

    /// <summary>Send it, and keep what follows until its answer is known.</summary>
    Watch,

    /// <summary>Do not send it, nor anything else.</summary>
    Stop,
}
