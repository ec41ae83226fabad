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
}

/// <summary>
/// The protocol of full-dtc on two servers as a machine of small states: two workers, each in a process of its own, two messages, one database on each server.
/// Each step is what one server does at once. Between any two steps a process can be killed, a session lost and the queue's server can crash; an answer can be
/// lost, and a PREPARE TRANSACTION can arrive when nobody waits for it any more. A crash of the branches' server is no step of its own: it keeps what is
/// prepared, and loses answers and attempts. Standbys and copies of a server are not in it.
/// </summary>
/// <param name="mistake">What is wrong with it.</param>
/// <param name="numbers">How many units each worker can begin: 1 or 2.</param>
/// <param name="recoveries">In how many of the processes recovery runs: 1 or 2. Each of them has its own view of the branches.</param>
internal sealed class TwoServersModel(Mistake mistake, int numbers, int recoveries)
{
    private const int Workers = 2;
    private const int Messages = 2;

    /// <summary>The states that were reached.</summary>
    public int Count { get; private set; }

    /// <summary>Searches all states, each once, by breadth.</summary>
    /// <returns>The shortest way to a state that breaks the invariant; <see langword="null"/> if there is none.</returns>
    public IReadOnlyList<string>? FindViolation()
    {
        var from = new Dictionary<State, (State? Before, string Step)> { [new State()] = (null, "start") };
        var waiting = new Queue<State>(from.Keys);
        while (waiting.TryDequeue(out var state))
        {
            if ((Violation(state) ?? LeftBehind(state)) is { } violation)
                return [.. WayTo(state, from), violation];

            foreach (var (step, next) in StepsFrom(state))
            {
                if (from.TryAdd(next, (state, step)))
                    waiting.Enqueue(next);
            }
        }

        Count = from.Count;
        return null;
    }

    private static List<string> WayTo(State state, Dictionary<State, (State? Before, string Step)> from)
    {
        var way = new List<string>();
        for (State? at = state; at is { } here; at = from[here].Before)
            way.Insert(0, from[here].Step);

        return way;
    }

    /// <summary>The invariant: a branch commits if, and only if, its message has left the queue.</summary>
    private static string? Violation(State state)
    {
        for (var worker = 0; worker < Workers; worker++)
        {
            for (var number = 0; number < 2; number++)
            {
                var (branch, hasDecided) = (state.Branch(worker, number), state.HasDecided(worker, number));
                if (branch is Branch.Committed && !hasDecided)
                    return $"rows of {worker}/{number} committed, and its message is still in the queue";
                if (branch is Branch.RolledBack && hasDecided)
                    return $"rows of {worker}/{number} rolled back, and its message has left the queue";
            }
        }

        return null;
    }

    /// <summary>When every process has been killed, one undisturbed pass of recovery has to end every branch, each as it was decided.</summary>
    private string? LeftBehind(State state)
    {
        var next = state;
        for (var worker = 0; worker < Workers; worker++)
        {
            next = next.EndSession(worker).With(worker, Session.Killed).Forget(worker);
            for (var number = 0; number < numbers; number++)
                next = next.IsOnTheWay(worker, number) ? Arrive(next, worker, number) : next;
        }

        do
        {
            next = RecoverySteps(next, 0).Single().Next;
            if (Violation(next) is { } violation)
                return $"after a kill of all, {violation}";
        }
        while (next.Recovery(0) is not Recovery.Idle);

        return next.PreparedBranches == 0 ? null : "after a kill of all, recovery leaves a branch prepared";
    }

    private static State Arrive(State state, int worker, int number) =>
        state.OnTheWay(worker, number, false).With(worker, number, Branch.Prepared);

    private IEnumerable<(string Step, State Next)> StepsFrom(State state)
    {
        for (var worker = 0; worker < Workers; worker++)
        {
            foreach (var step in WorkerSteps(state, worker))
                yield return step;
        }

        for (var recovery = 0; recovery < recoveries; recovery++)
        {
            foreach (var step in RecoverySteps(state, recovery))
                yield return step;
        }

        if (Enumerable.Range(0, Workers).Any(worker => state.Session(worker) is Session.Open))
            yield return ("the queue's server crashes", Enumerable.Range(0, Workers).Aggregate(state, (next, worker) => next.EndSession(worker)));
    }

    private IEnumerable<(string Step, State Next)> WorkerSteps(State state, int worker)
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
            if (state.IsOnTheWay(worker, number))
                yield return ($"branch {worker}/{number} is prepared late", Arrive(state, worker, number));
        }

        // The second phase: the process remembers what it has decided, even without the session.
        for (var number = 0; number < numbers; number++)
        {
            if (session is Session.Killed || !state.Remembers(worker, number))
                continue;
            if (mistake is Mistake.NumberRemovedEarly)
                yield return ($"{worker} strikes {number}", state.Remember(worker, number, false));

            var ended = state.Branch(worker, number) is Branch.Prepared ? state.With(worker, number, Branch.Committed) : state;
            yield return ($"{worker} commits branch {number}", ended.Remember(worker, number, false));
            yield return ($"{worker} commits branch {number}, unanswered", ended);
        }

        for (var number = 0; mistake is Mistake.NumberRemovedEarly && session is not Session.Killed && number < numbers; number++)
        {
            if (state.HasDecided(worker, number) && state.Branch(worker, number) is Branch.Prepared)
                yield return ($"{worker} commits branch {number} late", state.With(worker, number, Branch.Committed));
        }
    }

    private IEnumerable<(string Step, State Next)> UnitSteps(State state, int worker)
    {
        var number = state.Number(worker);
        if (state.Unit(worker) is Unit.None)
        {
            for (var message = 0; number < numbers && message < Messages; message++)
            {
                if (!state.IsGone(message) && !state.IsReceived(message))
                    yield return ($"{worker} receives {message}", state.Receive(worker, message));
            }
        }
        else if (state.Unit(worker) is Unit.Received)
        {
            yield return ($"{worker} prepares branch {number}", state.With(worker, number, Branch.Prepared).With(worker, Unit.Prepared));
            yield return ($"{worker} gives the attempt up", state.EndUnit(worker));
            yield return ($"{worker} gives the attempt up, and its prepare is on the way", state.OnTheWay(worker, number, true).EndUnit(worker));
        }
        else if (state.Row(worker) is Row.Open || (mistake is Mistake.FenceIgnored && state.Row(worker) is Row.Fenced))
        {
            var committed = state.Decide(worker);
            yield return ($"{worker} decides {number}", committed.Remember(worker, number, true).EndUnit(worker));
            yield return ($"{worker} decides {number}, unanswered",
                mistake is Mistake.GoesOnAfterDoubt ? committed.EndUnit(worker) : committed.EndSession(worker));
            yield return ($"the commit of {worker} is refused", state.EndUnit(worker));
        }
        else
        {
            yield return ($"{worker} is fenced", state.EndSession(worker));
        }
    }

    private IEnumerable<(string Step, State Next)> RecoverySteps(State state, int of)
    {
        switch (state.Recovery(of))
        {
            case Recovery.Idle:
                var read = state.With(of, Recovery.Ending, state.PreparedBranches);
                yield return ($"recovery {of} reads the branches", read);
                // Those of which it knows that they were prepared, and whose end was not answered.
                if (read.StrikeGone(of, read.Seen(of)) is var struck && struck != read)
                    yield return ($"recovery {of} reads the branches, and strikes those that are gone", struck);
                break;
            case Recovery.Ending when state.Seen(of) == 0:
                yield return mistake is Mistake.ReadBeforeFence
                    ? ($"recovery {of} reads the branches again, too early", state.With(of, Recovery.ReadTooEarly, state.PreparedBranches))
                    : ($"recovery {of} fences the dead", state.FenceDead(of, Recovery.Fenced, 0));
                break;
            case Recovery.Ending:
                foreach (var step in EndingSteps(state, of))
                    yield return step;
                break;
            case Recovery.Ruled:
                var ((worker, number), commits) = (state.FirstSeen(of), state.Verdict(of));
                var ended = state.Branch(worker, number) is Branch.Prepared
                    ? state.With(worker, number, commits ? Branch.Committed : Branch.RolledBack)
                    : state;
                yield return ($"recovery {of} ends {worker}/{number}: {(commits ? "commit" : "roll back")}", ended.NextSeen(of));
                break;
            case Recovery.ReadTooEarly:
                yield return ($"recovery {of} fences the dead", state.FenceDead(of, Recovery.Tidying, state.Seen(of)));
                break;
            case Recovery.Fenced:
                yield return ($"recovery {of} reads the branches again", state.ReadAgain(of));
                break;
            case Recovery.Tidying:
                var tidied = mistake is Mistake.GoneBeforePrepared ? state.StrikeGone(of, state.Seen(of)) : state;
                yield return ($"recovery {of} deletes rows", tidied.DeleteRows(of, mistake));
                break;
            default:
                throw new InvalidOperationException($"No such step of recovery: {state.Recovery(of)}.");
        }
    }

    private IEnumerable<(string Step, State Next)> EndingSteps(State state, int of)
    {
        var (worker, number) = state.FirstSeen(of);
        if (worker == of && state.Session(of) is Session.Open)
        {
            var isUnderWay = state.Unit(of) is not Unit.None && state.Number(of) == number;
            if (isUnderWay && mistake is not Mistake.OwnWorkerNotAsked)
                yield return ($"recovery {of} leaves {worker}/{number} alone", state.NextSeen(of));
            else
                yield return ($"recovery {of} asks its own worker for {number}", state.Rule(of, state.Remembers(of, number)));
            yield break;
        }

        var isListed = state.Row(worker) is Row.Open or Row.Fenced && state.IsListed(worker, number);
        var fenced = mistake is not Mistake.NoFence && state.Row(worker) is Row.Open ? state.With(worker, Row.Fenced) : state;
        yield return ($"recovery {of} fences {worker} and reads {number}", fenced.Rule(of, isListed));
    }
}
