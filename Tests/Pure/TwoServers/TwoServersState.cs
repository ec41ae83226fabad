namespace Kit.Tests.TwoServers;

internal enum Branch
{
    None,
    Prepared,
    Committed,
    RolledBack,
}

internal enum Session
{
    None,
    Open,

    /// <summary>Closed, and its process lives.</summary>
    Ended,
    Killed,
}

internal enum Row
{
    None,
    Open,
    Fenced,
    Deleted,
}

internal enum Unit
{
    None,
    Received,
    Prepared,
}

internal enum Recovery
{
    Idle,

    /// <summary>It ends the branches that it has seen, one by one.</summary>
    Ending,

    /// <summary>It has read the decision of the first.</summary>
    Ruled,
    Fenced,
    Tidying,
    ReadTooEarly,
}

/// <summary>A state of <see cref="TwoServersModel"/>, as the bits of one number.</summary>
internal readonly record struct State(ulong Bits = 0)
{
    // Each worker: session 2, row 2, unit 2, message 1, number 2, listed 2, remembered 2, decided 2, branches 2 × 2.
    private const int WorkerBits = 19;
    private const int MessagesAt = 2 * WorkerBits;
    private const int RecoveriesAt = MessagesAt + 2;

    // Each recovery: step 3, seen 4, verdict 1, dead 2.
    private const int RecoveryBits = 10;
    private const int OnTheWayAt = RecoveriesAt + (2 * RecoveryBits);

    public int PreparedBranches
    {
        get
        {
            var prepared = 0;
            for (var branch = 0; branch < 4; branch++)
                prepared |= Branch(branch / 2, branch % 2) is TwoServers.Branch.Prepared ? 1 << branch : 0;

            return prepared;
        }
    }

    /// <summary>The recovery in the process of the worker of that number.</summary>
    public Recovery Recovery(int of) => (Recovery)Get(At(of), 3);

    /// <summary>The branches that it has read, one bit each.</summary>
    public int Seen(int of) => Get(At(of) + 3, 4);

    public bool Verdict(int of) => Get(At(of) + 7, 1) == 1;

    public (int Worker, int Number) FirstSeen(int of)
    {
        var first = int.TrailingZeroCount(Seen(of));
        return (first / 2, first % 2);
    }

    /// <summary>Whether the PREPARE TRANSACTION was sent, and has not arrived. Nobody waits for it any more.</summary>
    public bool IsOnTheWay(int worker, int number) => Get(OnTheWayAt + (2 * worker) + number, 1) == 1;

    public Session Session(int worker) => (Session)Get(At(worker, 0), 2);

    public Row Row(int worker) => (Row)Get(At(worker, 2), 2);

    public Unit Unit(int worker) => (Unit)Get(At(worker, 4), 2);

    /// <summary>The number of the worker's unit, or of its next one.</summary>
    public int Number(int worker) => Get(At(worker, 7), 2);

    public bool IsListed(int worker, int number) => Get(At(worker, 9 + number), 1) == 1;

    public bool Remembers(int worker, int number) => Get(At(worker, 11 + number), 1) == 1;

    /// <summary>Whether the queue's server has committed the receive. Nobody reads this but the invariant.</summary>
    public bool HasDecided(int worker, int number) => Get(At(worker, 13 + number), 1) == 1;

    public Branch Branch(int worker, int number) => (Branch)Get(At(worker, 15 + (2 * number)), 2);

    public bool IsGone(int message) => Get(MessagesAt + message, 1) == 1;

    public bool IsReceived(int message) => IsReceivedBy(0, message) || IsReceivedBy(1, message);

    public State With(int worker, Session session) => Set(At(worker, 0), 2, (int)session);

    public State With(int worker, Row row) => Set(At(worker, 2), 2, (int)row);

    public State With(int worker, Unit unit) => Set(At(worker, 4), 2, (int)unit);

    public State With(int worker, int number, Branch branch) => Set(At(worker, 15 + (2 * number)), 2, (int)branch);

    public State With(int of, Recovery recovery, int seen) => Set(At(of), RecoveryBits, (int)recovery | seen << 3);

    public State OnTheWay(int worker, int number, bool isOnTheWay) => Set(OnTheWayAt + (2 * worker) + number, 1, isOnTheWay ? 1 : 0);

    public State Remember(int worker, int number, bool remembers) => Set(At(worker, 11 + number), 1, remembers ? 1 : 0);

    public State Receive(int worker, int message) => With(worker, TwoServers.Unit.Received).Set(At(worker, 6), 1, message);

    /// <summary>The queue's server commits: the message is gone, and the list is what the worker remembers and the number.</summary>
    public State Decide(int worker)
    {
        var (number, next) = (Number(worker), this);
        for (var other = 0; other < 2; other++)
            next = next.Set(At(worker, 9 + other), 1, other == number || Remembers(worker, other) ? 1 : 0);

        return next.Set(At(worker, 13 + number), 1, 1).Set(MessagesAt + Get(At(worker, 6), 1), 1, 1);
    }

    /// <summary>The unit is over, and the next one has another number.</summary>
    public State EndUnit(int worker) => Unit(worker) is TwoServers.Unit.None
        ? this
        : With(worker, TwoServers.Unit.None).Set(At(worker, 6), 1, 0).Set(At(worker, 7), 2, Number(worker) + 1);

    /// <summary>The server rolls back what is open. The worker uses its row no more.</summary>
    public State EndSession(int worker) => Session(worker) is TwoServers.Session.Open ? EndUnit(worker).With(worker, TwoServers.Session.Ended) : this;

    /// <summary>A killed process forgets what it has decided, and its recovery where it was.</summary>
    public State Forget(int worker) => Remember(worker, 0, false).Remember(worker, 1, false).With(worker, TwoServers.Recovery.Idle, 0);

    public State Rule(int of, bool commit) => Set(At(of), 3, (int)TwoServers.Recovery.Ruled).Set(At(of) + 7, 1, commit ? 1 : 0);

    public State NextSeen(int of) => With(of, TwoServers.Recovery.Ending, Seen(of) & (Seen(of) - 1));

    /// <summary>A process strikes what it remembers of its worker and has not seen prepared.</summary>
    public State StrikeGone(int worker, int seen)
    {
        var next = this;
        for (var number = 0; number < 2; number++)
        {
            if ((seen >> ((2 * worker) + number) & 1) == 0)
                next = next.Remember(worker, number, false);
        }

        return next;
    }

    /// <summary>A recovery fences the rows of workers whose session has ended, and remembers them.</summary>
    public State FenceDead(int of, TwoServers.Recovery recovery, int seen)
    {
        var (next, dead) = (this, 0);
        for (var worker = 0; worker < 2; worker++)
        {
            if (Row(worker) is TwoServers.Row.Open or TwoServers.Row.Fenced && Session(worker) is not TwoServers.Session.Open)
                (next, dead) = (next.With(worker, TwoServers.Row.Fenced), dead | 1 << worker);
        }

        return next.With(of, recovery, seen).Set(At(of) + 8, 2, dead);
    }

    /// <summary>It reads the branches again.</summary>
    public State ReadAgain(int of) => With(of, TwoServers.Recovery.Tidying, PreparedBranches).Set(At(of) + 8, 2, Get(At(of) + 8, 2));

    /// <summary>It deletes the rows of those that have none of the branches that it has read.</summary>
    public State DeleteRows(int of, Mistake mistake)
    {
        var next = this;
        for (var worker = 0; worker < 2; worker++)
        {
            var hasBranches = (Seen(of) >> (2 * worker) & 3) != 0 && mistake is not Mistake.RowDeletedEarly;
            var isDead = Get(At(of) + 8 + worker, 1) == 1 || (mistake is Mistake.AnothersFence && Row(worker) is TwoServers.Row.Fenced);
            if (isDead && !hasBranches)
                next = next.With(worker, TwoServers.Row.Deleted);
        }

        return next.With(of, TwoServers.Recovery.Idle, 0);
    }

    private static int At(int recovery) => RecoveriesAt + (recovery * RecoveryBits);

    private static int At(int worker, int bit) => (worker * WorkerBits) + bit;

    private bool IsReceivedBy(int worker, int message) => Unit(worker) is not TwoServers.Unit.None && Get(At(worker, 6), 1) == message;

    private int Get(int at, int bits) => (int)(Bits >> at & ((1UL << bits) - 1));

    private State Set(int at, int bits, int value) => new((Bits & ~(((1UL << bits) - 1) << at)) | ((ulong)value << at));
}
