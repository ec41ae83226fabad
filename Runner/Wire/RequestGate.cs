using Kit.Runner.Results;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Wire;

/// <summary>
/// All connections of one process, whose requests it numbers as they pass. It stops the process's traffic before or after one of them.
/// </summary>
internal sealed class RequestGate
{
    /// <summary>Time that servers have, after the traffic has stopped, to show that they have acted on everything before.</summary>
    private static readonly TimeSpan ToSettle = TimeSpan.FromSeconds(5);

    private readonly Lock deciding = new();
    private readonly List<GatedConnection> connections = [];
    private readonly List<SeenRequest> seen = [];
    private readonly List<SeenRequest> hidden = [];
    private readonly HashSet<string> asked = [];
    private readonly HashSet<string> unreadable = [];
    private TaskCompletionSource<DateTime> fired = new();
    private (IMoment Moment, PointWay Way)? target;
    private bool isCounting;
    private Action? cutOff;
    private int? metAt;
    private Func<string?>? whyNotMet;
    private KitException? failure;
    private GatedConnection? holder;
    private bool hasStopped;
    private int opened;

    /// <summary>Completes when the process may be killed or the server crashed, or the connection was cut, or its answer is withheld.</summary>
    public Task<DateTime> Fired => fired.Task;

    /// <summary>True if nothing passes any more.</summary>
    public bool IsFrozen { get; private set; }

    /// <summary>Number of times that it stopped all traffic.</summary>
    public int Freezes { get; private set; }

    /// <summary>True if a request is held back, and a server has not yet acted on the requests before it: nothing is cut.</summary>
    public bool IsHoldingBack { get; private set; }

    /// <summary>
    /// True if, since it began to count, it has stopped the traffic, held a request back, or made the fault at the point. Requests and answers of that time are
    /// gone, also after <see cref="Release"/>.
    /// </summary>
    public bool HasStopped
    {
        get
        {
            lock (deciding)
                return hasStopped;
        }
    }

    /// <summary>True if a point is awaited, or nothing passes because of one.</summary>
    public bool IsArmed
    {
        get
        {
            lock (deciding)
                return target is not null || IsFrozen;
        }
    }

    /// <summary>True if a request without an answer is being proved. The client's next request must not be seen yet.</summary>
    public bool IsProving
    {
        get
        {
            lock (deciding)
                return holder is not null;
        }
    }

    /// <summary>The sum of <see cref="IWireProtocol.Sessions"/> over all connections.</summary>
    public int Sessions
    {
        get
        {
            lock (deciding)
                return connections.Sum(connection => connection.Wire.Sessions);
        }
    }

    /// <summary>True if every server has acted on all its requests.</summary>
    public bool IsSettled
    {
        get
        {
            lock (deciding)
                return connections.TrueForAll(connection => connection.Wire.IsSettled);
        }
    }

    /// <summary>
    /// The requests since it began to count, in the order in which they came. The last is the one at which it stopped, also if it was never sent.
    /// </summary>
    public IReadOnlyList<SeenRequest> Passed
    {
        get
        {
            lock (deciding)
                return [.. seen.Take(metAt ?? seen.Count)];
        }
    }

    /// <summary>The reason why the last request that looked like the point was another moment; <see langword="null"/>: there was none.</summary>
    public string? PassedBecause { get; private set; }

    /// <summary>
    /// The reason why the request at which it stopped was another moment, as far as is known now; <see langword="null"/>: it was the point. While nothing
    /// passes, a request that was under way can get another answer than the recorded one. Ask before the fault: it can change answers, too.
    /// </summary>
    public string? WhyNotMet
    {
        get
        {
            lock (deciding)
                return whyNotMet?.Invoke();
        }
    }

    /// <summary>The requests since it began to count in transactions that were open then.</summary>
    public IReadOnlyList<(string Server, string Text, string? Outcome)> Hidden
    {
        get
        {
            lock (deciding)
                return [.. hidden.Select(one => (one.Server, one.Text, one.Request.Outcome)).Distinct()];
        }
    }

    /// <summary>True if a transaction that was open when it began to count has ended since.</summary>
    public bool HasEndedHidden
    {
        get
        {
            lock (deciding)
                return hidden.Exists(one => one.Request.HasEndedTransaction);
        }
    }

    /// <summary>The servers that got a request since the gate was made.</summary>
    public IReadOnlySet<string> Asked
    {
        get
        {
            lock (deciding)
                return asked.ToHashSet();
        }
    }

    /// <summary>The servers to which a client wanted to speak in a way that the proxy cannot read, such as TLS.</summary>
    public IReadOnlySet<string> Unreadable
    {
        get
        {
            lock (deciding)
                return unreadable.ToHashSet();
        }
    }

    /// <summary>The proxy cuts a connection that it cannot read, and the process meets a fault that nobody chose.</summary>
    /// <exception cref="KitException">It has cut one.</exception>
    public void ThrowIfFailed()
    {
        lock (deciding)
        {
            if (failure is not null)
                throw failure;
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
    public void Arm(IMoment moment, PointWay way) => Begin((moment, way));

    /// <summary>Stops counting, and lets all later traffic pass.</summary>
    /// <returns>The requests in the order in which they were sent. Those of transactions that are still open are left out.</returns>
    public IReadOnlyList<SeenRequest> Release()
    {
        lock (deciding)
        {
            (target, isCounting, IsFrozen, IsHoldingBack, cutOff) = (null, false, false, false, null);
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

    /// <summary>The decision about a request that is about to be sent.</summary>
    internal GateDecision Decide(GatedConnection connection, WireRequest request)
    {
        asked.Add(connection.Server);
        if (!isCounting)
            return GateDecision.Pass;

        var asking = new SeenRequest(connection.Server, request.Normal, connection.Number, request);
        if (connection.IsIgnored)
        {
            hidden.Add(asking);
            return GateDecision.Pass;
        }

        seen.Add(asking);
        if (target is not var (moment, way) || !moment.IsLike(asking))
            return GateDecision.Pass;
        if (way.Facts().IsExecuted)
            return GateDecision.Watch;
        // The server has answered what was asked before, so the request belongs to the transaction that is open now.
        if (!IsMoment(moment, seen.Count - 1, connection.Wire.OpenTransaction))
            return GateDecision.Pass;

        return way switch
        {
            PointWay.NeverSent => GateDecision.Stop,
            PointWay.ServerCrashedBefore => GateDecision.HoldBack,
            PointWay.CutBefore => GateDecision.CutOff,
            _ => throw new InvalidOperationException($"In way {way} the request is sent."),
        };
    }

    /// <summary>True if this request may be the point, and the answers to those before it on its connection must be known first.</summary>
    internal bool MustWait(GatedConnection connection, WireRequest request) =>
        isCounting && !connection.IsIgnored && !connection.Wire.IsSettled && target is var (moment, way) && !way.Facts().IsExecuted
        && moment.IsLike(new SeenRequest(connection.Server, request.Normal, connection.Number, request));

    /// <summary>The way, if this answered request is the one to stop at; otherwise <see langword="null"/>.</summary>
    internal PointWay? FindIn(WireRequest request)
    {
        if (target is not var (moment, way) || seen.FindIndex(one => one.Request == request) is not (>= 0 and var at))
            return null;

        if (moment.WhyNotAnswered(request.Outcome) is { } why)
        {
            PassedBecause = why;
            return null;
        }

        return IsMoment(moment, at, request.Transaction) ? way : null;
    }

    /// <summary>
    /// True if another connection has a request without an answer whose proof is awaited. The client does not wait for it, so its requests elsewhere must.
    /// </summary>
    internal bool HoldsBack(GatedConnection connection) => holder is not null && holder != connection;

    /// <summary>Holds back the requests of other connections, until the server has acted on a request without an answer.</summary>
    internal void HoldOthers(GatedConnection connection) => holder = connection;

    /// <summary>Lets the other connections go on, if this one held them back.</summary>
    internal void LetOthersPass(GatedConnection connection)
    {
        if (holder != connection)
            return;

        holder = null;
        foreach (var other in connections.Where(other => other != connection))
            other.SendBehind();
    }

    /// <summary>Notes that a connection's bytes cannot be read.</summary>
    internal void Fail(string server, Exception cause) => failure ??= new KitException(
        $"The proxy could not read what was said over a connection to '{server}', and cut it: {cause.Message}",
        "If it does not speak the protocol of PostgreSQL or RabbitMQ, let it lead to the server directly. Otherwise please report it.", cause);

    /// <summary>Notes that a client wanted to speak to this server in a way that the proxy cannot read.</summary>
    internal void NoteUnreadable(string server) => unreadable.Add(server);

    /// <summary>Lets nothing pass any more, and reports it when every server has acted on the requests before.</summary>
    internal void Freeze()
    {
        // What was held back is never sent: the process that asked it is about to be killed.
        (IsFrozen, hasStopped, target, holder) = (true, true, null, null);
        Freezes++;
        FireWhenSettled();
    }

    /// <summary>Lets other connections go on while one holds a request back, and reports it when every server has acted on the requests before.</summary>
    /// <param name="then">Called before it is reported; <see langword="null"/>: nothing is.</param>
    internal void HoldBack(Action? then)
    {
        (IsHoldingBack, hasStopped, target, cutOff) = (true, true, null, then);
        FireWhenSettled();
    }

    /// <summary>Reports a freeze, or that a request is held back, when every server has acted.</summary>
    internal void FireIfSettled()
    {
        if ((IsFrozen || IsHoldingBack) && connections.TrueForAll(connection => connection.Wire.IsSettled))
            Fire();
    }

    internal void Fire()
    {
        // What the cut leads to comes after it.
        var (of, nowUtc) = (fired, DateTime.UtcNow);
        cutOff?.Invoke();
        (hasStopped, target, IsHoldingBack, cutOff) = (true, null, false, null);
        // Continuations must not run within the lock.
        _ = Task.Run(() => of.TrySetResult(nowUtc));
    }

    internal void Close(GatedConnection connection)
    {
        connections.Remove(connection);
        LetOthersPass(connection);
        FireIfSettled();
    }

    private void FireWhenSettled()
    {
        foreach (var connection in connections)
            connection.Prove();
        var stopped = fired;
        _ = Task.Delay(ToSettle).ContinueWith(_ => StopWaiting(stopped), TaskScheduler.Default);
        FireIfSettled();
    }

    /// <summary>
    /// Ends the wait for the servers. Work that a server has not done until now, such as work that waits for a lock, may need the cut. A kill or a crash needs
    /// to know.
    /// </summary>
    private void StopWaiting(TaskCompletionSource<DateTime> of)
    {
        lock (deciding)
        {
            if (fired == of && IsHoldingBack && cutOff is not null)
                Fire();
        }

        of.TrySetResult(DateTime.UtcNow);
    }

    /// <param name="at">The request's index among all seen ones.</param>
    /// <param name="transaction">The open transaction of its connection; <see langword="null"/>: it begins one.</param>
    private bool IsMoment(IMoment moment, int at, int? transaction)
    {
        List<SeenRequest> others = [.. seen.Take(at)];
        List<SeenRequest> before = [.. others.Where(other => other.Connection == seen[at].Connection && other.Request.Transaction == transaction)];
        if (WhyNot() is { } why)
        {
            PassedBecause = why;
            return false;
        }

        (metAt, whyNotMet) = (at + 1, WhyNot);
        return true;

        string? WhyNot() => moment.WhyNot(before, others, other => !other.Request.IsAnswered);
    }

    private void Begin((IMoment Moment, PointWay Way)? stopAt)
    {
        lock (deciding)
        {
            seen.Clear();
            hidden.Clear();
            fired = new TaskCompletionSource<DateTime>();
            (target, metAt, whyNotMet, PassedBecause, isCounting, hasStopped) = (stopAt, null, null, null, true, false);
            foreach (var connection in connections)
                connection.BeginToCount(withOpenTransaction: stopAt is { Moment.IsInAnyTransaction: true });
        }
    }
}

/// <summary>The decision about a request.</summary>
internal enum GateDecision
{
    Pass,

    /// <summary>Send it, and keep the frames after it until its answer is known.</summary>
    Watch,

    /// <summary>Do not send it, nor anything else.</summary>
    Stop,

    /// <summary>Do not send it, nor anything else on its connection.</summary>
    HoldBack,

    /// <summary>Do not send it, and cut the connection when every server has acted on the requests before.</summary>
    CutOff,
}
