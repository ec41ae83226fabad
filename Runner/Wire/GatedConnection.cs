using Kit.Runner.Results.Points;

namespace Kit.Runner.Wire;

/// <summary>One connection through a <see cref="RequestGate"/>.</summary>
/// <param name="deciding">Guards the gate and all its connections.</param>
/// <param name="number">Its place in the order in which connections were opened.</param>
/// <param name="sides">Ways to send on.</param>
internal sealed class GatedConnection(RequestGate gate, Lock deciding, string server, int number, IWireProtocol wire, ConnectionSides sides)
    : IConnectionFilter
{
    private readonly Queue<ClientUnit> behind = new();
    private readonly List<byte[]> withheld = [];
    private WireRequest? watched;
    private ClientUnit? held;
    private bool isProbed;
    private bool isHanging;
    private bool isMute;
    private int? ignored;

    public string Server => server;

    public int Number => number;

    public IWireProtocol Wire => wire;

    /// <summary>True if its requests still belong to a transaction that was open when counting began.</summary>
    public bool IsIgnored => ignored is not null && wire.OpenTransaction == ignored;

    public void BeginToCount(bool withOpenTransaction) => ignored = withOpenTransaction ? null : wire.OpenTransaction;

    /// <summary>Makes the server show that it has acted on everything so far.</summary>
    public void Prove()
    {
        if (wire.Probe() is { Length: > 0 } probe)
            sides.ToServer(probe);
    }

    /// <summary>Sends the kept frames, in their order, as far as nothing holds them back any more.</summary>
    public void SendBehind()
    {
        while (watched is null && held is null && !gate.HoldsBack(this) && behind.TryDequeue(out var unit))
            Send(unit);
    }

    public void See(Traffic direction, ReadOnlySpan<byte> piece)
    {
        lock (deciding)
        {
            try
            {
                Pass(direction, piece);
            }
            catch (Exception unforeseen)
            {
                // What comes is not a frame of the protocol, or the kit has made a mistake. An experiment on it shows nothing in both cases, and nobody
                // else would report it: the task of a connection is not awaited.
                gate.Fail(server, unforeseen);
                sides.Cut();
            }

            gate.FireIfSettled();
        }
    }

    public void End()
    {
        lock (deciding)
            gate.Close(this);
    }

    private void Pass(Traffic direction, ReadOnlySpan<byte> piece)
    {
        if (direction is Traffic.ToServer)
        {
            foreach (var unit in wire.FromClient(piece))
                Send(unit);
            if (wire.IsUnreadable)
                gate.NoteUnreadable(server);
        }
        else
        {
            foreach (var frame in wire.FromServer(piece))
                Receive(frame);
            SendHeld();
        }
    }

    private void Send(ClientUnit unit)
    {
        if (gate.IsFrozen || isMute || (isHanging && unit.Request is not null))
            return;

        if (unit.AnsweredWith is { } answer)
        {
            sides.ToClient(answer);
            return;
        }

        // What follows in the same request belongs to it. What is asked next must not be executed, and what follows that keeps its place.
        if (held is not null || ((watched is not null || gate.HoldsBack(this)) && (unit.Request is not null || behind.Count > 0)))
        {
            behind.Enqueue(unit);
            if (watched is not null)
                ProbeOnce();
            return;
        }

        if (unit.Request is { } maybe && gate.MustWait(this, maybe))
        {
            held = unit;
            Prove();
            return;
        }

        var decision = unit.Request is null ? GateDecision.Pass : gate.Decide(this, unit.Request);
        if (decision is GateDecision.Stop)
        {
            gate.Freeze();
            return;
        }

        if (decision is GateDecision.HoldBack or GateDecision.CutOff)
        {
            (isMute, isHanging) = (true, true);
            gate.HoldBack(decision is GateDecision.CutOff ? sides.Cut : null);
            return;
        }

        sides.ToServer(unit.Bytes);
        unit.Sent?.Invoke();
        if (decision is not GateDecision.Watch)
            return;

        (watched, isProbed) = (unit.Request, false);
        if (watched!.HasAnswer)
            return;

        gate.HoldOthers(this);
        ProbeOnce();
    }

    /// <summary>Decides about a request that waited for the answers to those before it.</summary>
    private void SendHeld()
    {
        if (held is not { } unit || !wire.IsSettled)
            return;

        held = null;
        Send(unit);
        SendBehind();
    }

    private void ProbeOnce()
    {
        if (isProbed)
            return;

        isProbed = true;
        Prove();
    }

    private void Receive(ServerFrame frame)
    {
        if (gate.IsFrozen || isHanging)
            return;

        var isWatched = watched is not null && !frame.IsQuestion && (frame.Of is null || frame.Of == watched);
        if (isWatched)
            withheld.Add(frame.Bytes);
        else
            sides.ToClient(frame.Bytes);
        if (watched is not null && frame.Completed.Contains(watched))
            EndWatch(watched);
    }

    private void EndWatch(WireRequest request)
    {
        switch (gate.FindIn(request))
        {
            case null:
                LetPass();
                break;
            case PointWay.Killed:
                gate.Freeze();
                break;
            case PointWay.Cut:
                isHanging = true;
                sides.Cut();
                gate.LetOthersPass(this);
                gate.Fire();
                break;
            // If others wait for this one's proof, they wait until the server's crash has ended it.
            case PointWay.Unanswered or PointWay.ServerCrashedAfter:
                isHanging = true;
                gate.Fire();
                break;
            default:
                throw new InvalidOperationException("A request that is never sent has no answer.");
        }
    }

    private void LetPass()
    {
        watched = null;
        withheld.ForEach(sides.ToClient);
        withheld.Clear();
        gate.LetOthersPass(this);
        SendBehind();
    }
}
