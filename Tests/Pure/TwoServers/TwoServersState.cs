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

    /// <summary>It knows that all its branches are.</summary>
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
internal readonly record struct State(UInt128 Bits = default)
{
    // Each worker: session 2, row 2, unit 2, message 1, number 2, uses 2, answered 2, listed 2, decided 2.
    private const int WorkerBits = 17;

    // Each branch, of 2 workers × 2 numbers × 2 participants: branch 2, remembered 1, on the way 1.
    private const int BranchesAt = 2 * WorkerBits;
    private const int BranchBits = 4;
    private const int MessagesAt = BranchesAt + (8 * BranchBits);
    private const int RecoveriesAt = MessagesAt + 2;

    // Each recovery, of 2 processes × 2 participants: step 3, seen 4, verdict 1, dead 2, and what stays from one pass to the next, clean 2.
    private const int PassBits = 10;
    private const int RecoveryBits = PassBits + 2;

    /// <summary>The branches that are prepared at a participant, one bit each.</summary>
    public int PreparedAt(int participant)
    {
        var prepared = 0;
        for (var branch = 0; branch < 4; branch++)
            prepared |= Branch(branch / 2, branch % 2, participant) is TwoServers.Branch.Prepared ? 1 << branch : 0;

        return prepared;
    }

    /// <summary>The recovery of a participant in the process of the worker of that number.</summary>
    public Recovery Recovery(int of, int participant) => (Recovery)Get(AtPass(of, participant), 3);

    /// <summary>The branches that it has read, one bit each.</summary>
    public int Seen(int of, int participant) => Get(AtPass(of, participant) + 3, 4);

    public bool Verdict(int of, int participant) => Get(AtPass(of, participant) + 7, 1) == 1;

    public (int Worker, int Number) FirstSeen(int of, int participant)
    {
        var first = int.TrailingZeroCount(Seen(of, participant));
        return (first / 2, first % 2);
    }

    /// <summary>Whether the PREPARE TRANSACTION was sent, and has not arrived. Nobody waits for it any more.</summary>
    public bool IsOnTheWay(int worker, int number, int participant) => Get(AtBranch(worker, number, participant) + 3, 1) == 1;

    public Session Session(int worker) => (Session)Get(At(worker, 0), 2);

    public Row Row(int worker) => (Row)Get(At(worker, 2), 2);

    public Unit Unit(int worker) => (Unit)Get(At(worker, 4), 2);

    /// <summary>The number of the worker's unit, or of its next one.</summary>
    public int Number(int worker) => Get(At(worker, 7), 2);

    /// <summary>Whether the worker's unit has a branch at a participant.</summary>
    public bool Uses(int worker, int participant) => Get(At(worker, 9 + participant), 1) == 1;

    /// <summary>Whether the worker knows that its unit's branch is prepared there.</summary>
    public bool IsAnswered(int worker, int participant) => Get(At(worker, 11 + participant), 1) == 1;

    public bool IsListed(int worker, int number) => Get(At(worker, 13 + number), 1) == 1;

    /// <summary>Whether the queue's server has committed the receive. Nobody reads this but the invariant.</summary>
    public bool HasDecided(int worker, int number) => Get(At(worker, 15 + number), 1) == 1;

    /// <summary>Whether the worker's process knows a branch as decided, and not as ended.</summary>
    public bool Remembers(int worker, int number, int participant) => Get(AtBranch(worker, number, participant) + 2, 1) == 1;

    public bool RemembersAny(int worker, int number) => Remembers(worker, number, 0) || Remembers(worker, number, 1);

    public Branch Branch(int worker, int number, int participant) => (Branch)Get(AtBranch(worker, number, participant), 2);

    public bool IsGone(int message) => Get(MessagesAt + message, 1) == 1;

    public bool IsReceived(int message) => IsReceivedBy(0, message) || IsReceivedBy(1, message);

    public State With(int worker, Session session) => Set(At(worker, 0), 2, (int)session);

    public State With(int worker, Row row) => Set(At(worker, 2), 2, (int)row);

    public State With(int worker, Unit unit) => Set(At(worker, 4), 2, (int)unit);

    public State With(int worker, int number, int participant, Branch branch) => Set(AtBranch(worker, number, participant), 2, (int)branch);

    public State With(int of, int participant, Recovery recovery, int seen) => Set(AtPass(of, participant), PassBits, (int)recovery | seen << 3);

    public State OnTheWay(int worker, int number, int participant, bool isOnTheWay) =>
        Set(AtBranch(worker, number, participant) + 3, 1, isOnTheWay ? 1 : 0);

    public State Remember(int worker, int number, int participant, bool remembers) => Set(AtBranch(worker, number, participant) + 2, 1, remembers ? 1 : 0);

    /// <param name="worker">The worker.</param>
    /// <param name="message">The message.</param>
    /// <param name="uses">The participants where its handler writes, one bit each.</param>
    public State Receive(int worker, int message, int uses) =>
        With(worker, TwoServers.Unit.Received).Set(At(worker, 6), 1, message).Set(At(worker, 9), 2, uses);

    public State Answer(int worker, int participant) => Set(At(worker, 11 + participant), 1, 1);

    /// <summary>The queue's server commits: the message is gone, and the list is what the worker remembers and the number.</summary>
    public State Decide(int worker)
    {
        var (number, next) = (Number(worker), this);
        for (var other = 0; other < 2; other++)
            next = next.Set(At(worker, 13 + other), 1, other == number || RemembersAny(worker, other) ? 1 : 0);

        return next.Set(At(worker, 15 + number), 1, 1).Set(MessagesAt + Get(At(worker, 6), 1), 1, 1);
    }

    /// <summary>The unit is over, and the next one has another number.</summary>
    public State EndUnit(int worker) => Unit(worker) is TwoServers.Unit.None
        ? this
        : With(worker, TwoServers.Unit.None).Set(At(worker, 6), 1, 0).Set(At(worker, 9), 4, 0).Set(At(worker, 7), 2, Number(worker) + 1);

    /// <summary>The server rolls back what is open. The worker uses its row no more.</summary>
    public State EndSession(int worker) => Session(worker) is TwoServers.Session.Open ? EndUnit(worker).With(worker, TwoServers.Session.Ended) : this;

    /// <summary>A killed process forgets what it has decided, and its recovery where it was.</summary>
    public State Forget(int worker)
    {
        var next = this;
        for (var participant = 0; participant < 2; participant++)
        {
            next = next.Remember(worker, 0, participant, false).Remember(worker, 1, participant, false)
                .Set(AtPass(worker, participant), RecoveryBits, 0);
        }

        return next;
    }

    public State Rule(int of, int participant, bool commit) =>
        Set(AtPass(of, participant), 3, (int)TwoServers.Recovery.Ruled).Set(AtPass(of, participant) + 7, 1, commit ? 1 : 0);

    public State NextSeen(int of, int participant) =>
        With(of, participant, TwoServers.Recovery.Ending, Seen(of, participant) & (Seen(of, participant) - 1));

    /// <summary>A process strikes what it remembers of its worker and has not seen prepared.</summary>
    public State StrikeGone(int worker, int participant, int seen)
    {
        var next = this;
        for (var number = 0; number < 2; number++)
        {
            if ((seen >> ((2 * worker) + number) & 1) == 0)
                next = next.Remember(worker, number, participant, false);
        }

        return next;
    }

    /// <summary>A recovery fences the rows of workers whose session has ended, and remembers them.</summary>
    public State FenceDead(int of, int participant, TwoServers.Recovery recovery, int seen)
    {
        var (next, dead) = (this, 0);
        for (var worker = 0; worker < 2; worker++)
        {
            if (Row(worker) is TwoServers.Row.Open or TwoServers.Row.Fenced && Session(worker) is not TwoServers.Session.Open)
                (next, dead) = (next.With(worker, TwoServers.Row.Fenced), dead | 1 << worker);
        }

        return next.With(of, participant, recovery, seen).Set(AtPass(of, participant) + 8, 2, dead);
    }

    /// <summary>It reads the branches again.</summary>
    public State ReadAgain(int of, int participant) => With(of, participant, TwoServers.Recovery.Tidying, PreparedAt(participant))
        .Set(AtPass(of, participant) + 8, 2, Get(AtPass(of, participant) + 8, 2));

    /// <summary>It deletes the rows of those that have none of the branches that it has read, and had none at the other participants.</summary>
    public State DeleteRows(int of, int participant, int participants, Mistake mistake)
    {
        var clean = 0;
        for (var worker = 0; worker < 2; worker++)
        {
            var hasBranches = (Seen(of, participant) >> (2 * worker) & 3) != 0 && mistake is not Mistake.RowDeletedEarly;
            var isDead = Get(AtPass(of, participant) + 8 + worker, 1) == 1 || (mistake is Mistake.AnothersFence && Row(worker) is TwoServers.Row.Fenced);
            clean |= isDead && !hasBranches ? 1 << worker : 0;
        }

        var next = Set(AtPass(of, participant) + PassBits, 2, clean);
        for (var worker = 0; worker < 2; worker++)
        {
            var isClean = (clean >> worker & 1) == 1;
            for (var other = 0; other < participants && mistake is not Mistake.RowDeletedWithoutTheOther; other++)
                isClean = isClean && (next.Get(AtPass(of, other) + PassBits, 2) >> worker & 1) == 1;
            if (isClean)
                next = next.With(worker, TwoServers.Row.Deleted);
        }

        return next.With(of, participant, TwoServers.Recovery.Idle, 0);
    }

    private static int AtPass(int recovery, int participant) => RecoveriesAt + (((2 * recovery) + participant) * RecoveryBits);

    private static int AtBranch(int worker, int number, int participant) => BranchesAt + (((4 * worker) + (2 * number) + participant) * BranchBits);

    private static int At(int worker, int bit) => (worker * WorkerBits) + bit;

    private bool IsReceivedBy(int worker, int message) => Unit(worker) is not TwoServers.Unit.None && Get(At(worker, 6), 1) == message;

    private int Get(int at, int bits) => (int)(uint)((Bits >> at) & ((1u << bits) - 1));

    private State Set(int at, int bits, int value)
    {
        var mask = (UInt128)((1u << bits) - 1) << at;
        return new State((Bits & ~mask) | ((UInt128)(uint)value << at));
    }
}
