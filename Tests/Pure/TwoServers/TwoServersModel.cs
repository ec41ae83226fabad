namespace Kit.Tests.TwoServers;

/// <summary>A mistake that the protocol must not contain. The search has to find what each of them breaks.</summary>
public enum Mistake
{
    None,

    /// <summary>Recovery reads the list of a worker without fencing its row.</summary>
    NoFence,

    /// <summary>A worker writes its list although recovery has fenced the row.</summary>
    FenceIgnored,

    /// <summary>A number leaves the list when the second phase begins, instead of when the branch has ended.</summary>
    NumberRemovedEarly,

    /// <summary>A worker goes on with the same row although the outcome of its last commit is unknown.</summary>
    GoesOnAfterDoubt,

    /// <summary>The branches are read before dead workers are fenced, and rows are deleted by that.</summary>
    ReadBeforeFence,

    /// <summary>A row is deleted although its worker has prepared branches.</summary>
    RowDeletedEarly,

    /// <summary>Recovery takes a branch of a worker of its own process for aborted, although its decision is under way.</summary>
    OwnWorkerNotAsked,

    /// <summary>A recovery deletes the rows that are fenced, and not only those that it has fenced before it read the branches.</summary>
    AnothersFence,

    /// <summary>A number leaves the list because its branch was not among those that were read before it was prepared.</summary>
    GoneBeforePrepared,

    /// <summary>A number leaves the list when the first of its branches has ended.</summary>
    NumberRemovedAtTheFirstEnd,

    /// <summary>A worker decides when the first of its branches is prepared.</summary>
    DecidesAfterOnePrepare,

    /// <summary>A row is deleted when its worker has no branch at one participant.</summary>
    RowDeletedWithoutTheOther,
}

/// <summary>
/// The protocol of full-dtc on several servers as a machine of small states: workers, each in a process of its own, two messages, a queue's database and one
/// or two participants, each on its own server. Each step is what one server does at once. Between any two steps a process can be killed, a session lost and
/// the queue's server can crash; an answer can be lost, and a PREPARE TRANSACTION can arrive when nobody waits for it any more. A crash of a branch's server is
/// no step of its own: it keeps what is prepared, and loses answers and attempts. Standbys and copies of a server are not in it.
/// </summary>
/// <param name="mistake">What is wrong with it.</param>
/// <param name="numbers">How many units each worker can begin: 1 or 2.</param>
/// <param name="recoveries">The processes in which recovery runs, such as "0" or "01". Each of them has its own view of the branches.</param>
/// <param name="participants">How many databases a handler can write to: 1 or 2. Recovery looks at each by itself.</param>
/// <param name="workers">How many workers there are: 1 or 2.</param>
internal sealed class TwoServersModel(Mistake mistake, int numbers, string recoveries, int participants = 1, int workers = 2)
{
    private const int Messages = 2;

    /// <summary>The states that were reached.</summary>
    public int Count { get; private set; }

    private IEnumerable<int> All => Enumerable.Range(0, participants);

    /// <summary>Searches all states, each once, by breadth.</summary>
    /// <returns>The shortest way to a state that breaks the invariant; <see langword="null"/> if there is none.</returns>
    public IReadOnlyList<string>? FindViolation()
    {
        var from = new Dictionary<State, State?> { [new State()] = null };
        var waiting = new Queue<State>(from.Keys);
        while (waiting.TryDequeue(out var state))
        {
            if ((Violation(state) ?? LeftBehind(state)) is { } violation)
                return [.. WayTo(state, from), violation];

            foreach (var (_, next) in StepsFrom(state))
            {
                if (from.TryAdd(next, state))
                    waiting.Enqueue(next);
            }
        }

        Count = from.Count;
        return null;
    }

    private IEnumerable<string> WayTo(State state, Dictionary<State, State?> from)
    {
        var way = new List<string>();
        for (var at = state; from[at] is { } before; at = before)
            way.Insert(0, $"{StepsFrom(before).First(step => step.Next == at).Step}");

        return way.Prepend("start");
    }

    /// <summary>The invariant: a branch commits if, and only if, its message has left the queue.</summary>
    private string? Violation(State state)
    {
        for (var worker = 0; worker < workers; worker++)
        {
            for (var number = 0; number < numbers; number++)
            {
                for (var participant = 0; participant < participants; participant++)
                {
                    var (branch, hasDecided) = (state.Branch(worker, number, participant), state.HasDecided(worker, number));
                    if (branch is Branch.Committed && !hasDecided)
                        return $"rows of {worker}/{number} at {participant} committed, and its message is still in the queue";
                    if (branch is Branch.RolledBack && hasDecided)
                        return $"rows of {worker}/{number} at {participant} rolled back, and its message has left the queue";
                }
            }
        }

        return null;
    }

    /// <summary>When every process has been killed, one undisturbed pass of recovery has to end every branch, each as it was decided.</summary>
    private string? LeftBehind(State state)
    {
        var next = state;
        for (var worker = 0; worker < 2; worker++)
        {
            next = next.EndSession(worker).With(worker, Session.Killed).Forget(worker);
            for (var number = 0; number < numbers; number++)
            {
                for (var participant = 0; participant < participants; participant++)
                    next = next.IsOnTheWay(worker, number, participant) ? Arrive(next, worker, number, participant) : next;
            }
        }

        for (var participant = 0; participant < participants; participant++)
        {
            do
            {
                next = RecoverySteps(next, 0, participant).Single().Next;
                if (Violation(next) is { } violation)
                    return $"after a kill of all, {violation}";
            }
            while (next.Recovery(0, participant) is not Recovery.Idle);

            if (next.PreparedAt(participant) != 0)
                return "after a kill of all, recovery leaves a branch prepared";
        }

        return null;
    }

    private static State Arrive(State state, int worker, int number, int participant) =>
        state.OnTheWay(worker, number, participant, false).With(worker, number, participant, Branch.Prepared);

    private IEnumerable<(FormattableString Step, State Next)> StepsFrom(State state)
    {
        for (var worker = 0; worker < workers; worker++)
        {
            foreach (var step in WorkerSteps(state, worker))
                yield return step;
        }

        foreach (var recovery in recoveries)
        {
            for (var participant = 0; participant < participants; participant++)
            {
                foreach (var step in RecoverySteps(state, recovery - '0', participant))
                    yield return step;
            }
        }

        if (Enumerable.Range(0, workers).Any(worker => state.Session(worker) is Session.Open))
            yield return ($"the queue's server crashes", Enumerable.Range(0, workers).Aggregate(state, (next, worker) => next.EndSession(worker)));
    }

    private IEnumerable<(FormattableString Step, State Next)> WorkerSteps(State state, int worker)
    {
        var session = state.Session(worker);
        if (session is Session.None)
            yield return ($"{worker} inserts its row", state.With(worker, Session.Open).With(worker, Row.Open));

        if (session is Session.Open)
        {
            foreach (var step in UnitSteps(state, worker))
                yield return step;
            yield return ($"{worker} loses its session", state.EndSession(worker));
        }

        if (session is Session.Open or Session.Ended)
            yield return ($"the process of {worker} is killed", state.EndSession(worker).With(worker, Session.Killed).Forget(worker));

        for (var number = 0; number < numbers; number++)
        {
            for (var participant = 0; participant < participants; participant++)
            {
                foreach (var step in BranchSteps(state, worker, number, participant))
                    yield return step;
            }
        }
    }

    /// <summary>The second phase: the process remembers what it has decided, even without the session.</summary>
    private IEnumerable<(FormattableString Step, State Next)> BranchSteps(State state, int worker, int number, int participant)
    {
        FormattableString branch = $"branch {worker}/{number} at {participant}";
        if (state.IsOnTheWay(worker, number, participant))
            yield return ($"{branch} is prepared late", Arrive(state, worker, number, participant));
        if (state.Session(worker) is Session.Killed)
            yield break;

        var isPrepared = state.Branch(worker, number, participant) is Branch.Prepared;
        if (state.Remembers(worker, number, participant))
        {
            if (mistake is Mistake.NumberRemovedEarly)
                yield return ($"{worker} strikes {number}", state.Remember(worker, number, participant, false));

            var ended = isPrepared ? state.With(worker, number, participant, Branch.Committed) : state;
            var struck = ended.Remember(worker, number, participant, false);
            if (mistake is Mistake.NumberRemovedAtTheFirstEnd)
                struck = struck.Remember(worker, number, 1 - participant, false);
            yield return ($"{branch} is committed", struck);
            yield return ($"{branch} is committed, unanswered", ended);
        }

        if (mistake is Mistake.NumberRemovedEarly && state.HasDecided(worker, number) && isPrepared)
            yield return ($"{branch} is committed late", state.With(worker, number, participant, Branch.Committed));
    }

    private IEnumerable<(FormattableString Step, State Next)> UnitSteps(State state, int worker)
    {
        var number = state.Number(worker);
        if (state.Unit(worker) is Unit.None)
        {
            for (var message = 0; number < numbers && message < Messages; message++)
            {
                if (state.IsGone(message) || state.IsReceived(message))
                    continue;
                // A handler writes to the first, or to all.
                for (var uses = 1; uses < 1 << participants; uses += 2)
                    yield return ($"{worker} receives {message} for {uses}", state.Receive(worker, message, uses));
            }
        }
        else if (state.Unit(worker) is Unit.Received)
        {
            foreach (var step in PrepareSteps(state, worker, number))
                yield return step;
        }
        else if (state.Row(worker) is Row.Open || (mistake is Mistake.FenceIgnored && state.Row(worker) is Row.Fenced))
        {
            var committed = state.Decide(worker);
            var remembers = All.Where(participant => state.IsAnswered(worker, participant))
                .Aggregate(committed, (next, participant) => next.Remember(worker, number, participant, true));
            yield return ($"{worker} decides {number}", remembers.EndUnit(worker));
            yield return ($"{worker} decides {number}, unanswered",
                mistake is Mistake.GoesOnAfterDoubt ? committed.EndUnit(worker) : committed.EndSession(worker));
            yield return ($"the commit of {worker} is refused", state.EndUnit(worker));
        }
        else
        {
            yield return ($"{worker} is fenced", state.EndSession(worker));
        }
    }

    private IEnumerable<(FormattableString Step, State Next)> PrepareSteps(State state, int worker, int number)
    {
        var waiting = All.Where(participant => state.Uses(worker, participant) && !state.IsAnswered(worker, participant)).ToList();
        foreach (var participant in waiting)
        {
            var prepared = state.With(worker, number, participant, Branch.Prepared).Answer(worker, participant);
            var others = waiting.Where(other => other != participant).ToList();
            if (mistake is Mistake.DecidesAfterOnePrepare)
                prepared = others.Aggregate(prepared, (next, other) => next.OnTheWay(worker, number, other, true));
            yield return ($"{worker} prepares branch {number} at {participant}",
                others.Count == 0 || mistake is Mistake.DecidesAfterOnePrepare ? prepared.With(worker, Unit.Prepared) : prepared);
        }

        // What is prepared is rolled back, if it can be reached.
        var rolledBack = All.Where(participant => state.IsAnswered(worker, participant) && state.Branch(worker, number, participant) is Branch.Prepared)
            .Aggregate(state, (next, participant) => next.With(worker, number, participant, Branch.RolledBack));
        var onTheWay = waiting.Aggregate(state, (next, participant) => next.OnTheWay(worker, number, participant, true));
        yield return ($"{worker} gives the attempt up", rolledBack.EndUnit(worker));
        yield return ($"{worker} gives the attempt up, and its prepare is on the way", onTheWay.EndUnit(worker));
    }

    private IEnumerable<(FormattableString Step, State Next)> RecoverySteps(State state, int of, int at)
    {
        FormattableString name = $"recovery {of} at {at}";
        switch (state.Recovery(of, at))
        {
            case Recovery.Idle:
                var read = state.With(of, at, Recovery.Ending, state.PreparedAt(at));
                yield return ($"{name} reads the branches", read);
                // Those of which it knows that they were prepared, and whose end was not answered.
                if (read.StrikeGone(of, at, read.Seen(of, at)) is var struck && struck != read)
                    yield return ($"{name} reads the branches, and strikes those that are gone", struck);
                break;
            case Recovery.Ending when state.Seen(of, at) == 0 && mistake is Mistake.ReadBeforeFence:
                yield return ($"{name} reads the branches again, too early", state.With(of, at, Recovery.ReadTooEarly, state.PreparedAt(at)));
                break;
            case Recovery.Ending when state.Seen(of, at) == 0:
                yield return ($"{name} fences the dead", state.FenceDead(of, at, Recovery.Fenced, 0));
                break;
            case Recovery.Ending:
                foreach (var step in EndingSteps(state, of, at))
                    yield return step;
                break;
            case Recovery.Ruled:
                var ((worker, number), commits) = (state.FirstSeen(of, at), state.Verdict(of, at));
                var ended = state.Branch(worker, number, at) is Branch.Prepared
                    ? state.With(worker, number, at, commits ? Branch.Committed : Branch.RolledBack)
                    : state;
                yield return ($"{name} ends {worker}/{number}: {(commits ? "commit" : "roll back")}", ended.NextSeen(of, at));
                break;
            case Recovery.ReadTooEarly:
                yield return ($"{name} fences the dead", state.FenceDead(of, at, Recovery.Tidying, state.Seen(of, at)));
                break;
            case Recovery.Fenced:
                yield return ($"{name} reads the branches again", state.ReadAgain(of, at));
                break;
            case Recovery.Tidying:
                var tidied = mistake is Mistake.GoneBeforePrepared ? state.StrikeGone(of, at, state.Seen(of, at)) : state;
                yield return ($"{name} deletes rows", tidied.DeleteRows(of, at, participants, mistake));
                break;
            default:
                throw new InvalidOperationException($"No such step of recovery: {state.Recovery(of, at)}.");
        }
    }

    private IEnumerable<(FormattableString Step, State Next)> EndingSteps(State state, int of, int at)
    {
        var (worker, number) = state.FirstSeen(of, at);
        FormattableString name = $"recovery {of} at {at}";
        if (worker == of && state.Session(of) is Session.Open)
        {
            var isUnderWay = state.Unit(of) is not Unit.None && state.Number(of) == number;
            if (isUnderWay && mistake is not Mistake.OwnWorkerNotAsked)
                yield return ($"{name} leaves {worker}/{number} alone", state.NextSeen(of, at));
            else
                yield return ($"{name} asks its own worker for {number}", state.Rule(of, at, state.RemembersAny(of, number)));
            yield break;
        }

        var isListed = state.Row(worker) is Row.Open or Row.Fenced && state.IsListed(worker, number);
        var fenced = mistake is not Mistake.NoFence && state.Row(worker) is Row.Open ? state.With(worker, Row.Fenced) : state;
        yield return ($"{name} fences {worker} and reads {number}", fenced.Rule(of, at, isListed));
    }
}
