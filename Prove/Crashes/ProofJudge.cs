using System.Collections.Concurrent;
using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Wire;

namespace Kit.Prove.Crashes;

/// <summary>Judges a message by the promise of the file, and tells how it came to the result.</summary>
internal sealed class ProofJudge(ProofFile file)
{
    private const int MostRequests = 60;
    private const string NotAwaited = "a call was under way when the process was killed, and whether it arrives is not determined: await calls";

    /// <summary>The experiment of each message.</summary>
    private readonly ConcurrentDictionary<Guid, PointToken> sentAt = new();

    /// <summary>The waits of the experiments. The commands leave them as they are; a test sets shorter ones for an application that is quick.</summary>
    public PointWaits Waits { get; init; } = new();

    /// <summary>The experiments with the application of the file.</summary>
    public PointExperiments<ProofAccount> ExperimentsOn(ProofServers servers) => new(
        new(file.Promised, WhyDisturbed, account => account.Left.Count > 0),
        async (gate, stop) => await Application.OpenAsync(file, servers, gate, stop))
    {
        Waits = Waits,
    };

    public ProofResult Judge(PointExperiment experiment, PointOutcome<ProofAccount> outcome)
    {
        var (_, way, token, _) = experiment;
        var blank = new ProofResult
        {
            Point = experiment.Facts(),
            Verdict = outcome.HasFailed ? FaultVerdict.Failed : FaultVerdict.Void,
            Because = outcome.Because,
            Seconds = outcome.Seconds,
            Discarded = outcome.Discarded,
        };
        if (outcome.Account is not { } account)
            return blank;

        foreach (var message in account.Messages)
            sentAt[message.Id] = token;
        List<MessageAccount> beyond =
        [
            .. from message in account.Messages
               let promised = outcome.PromisedTo(
                   message.Id, file.Promised, PromisedAfter(way), PointVerdict.PromisedUndisturbed, PointVerdict.PromisedUndisturbed)
               where !promised.Contains(message.Class)
               orderby message.Id != outcome.Chosen
               select message,
        ];
        List<string> violations = [.. ViolationsOf(account, outcome, beyond)];
        // An effect too many, whatever its id.
        var classes = beyond.Concat(account.Changed).Select(message => message.Class).Concat(account.Unexpected.Select(_ => DeliveryClass.Duplicated));
        var verdict = outcome.IsMet
            ? PointVerdict.Of(outcome.Unsettled, violations.Count > 0, classes)
            : PointVerdict.OfNotMet(outcome.Unsettled, violations.Count > 0, classes);
        // The process awaits an answer at the point, and calls all the same: whether such a call arrives is chance, and it could arrive once too often.
        var called = file.Effects.Any(effect => effect is RowEffect { IsDeadLetter: false }) ? DeliveryClass.DuplicatedOutgoing : DeliveryClass.Duplicated;
        if (verdict is FaultVerdict.Kept && account.CallsRefused > 0 && experiment.Point.HasAnswer && !file.Promised.Contains(called))
            return blank with { Because = NotAwaited };
        if (!outcome.IsMet && verdict is FaultVerdict.Void)
            return blank with { Because = string.Join("; ", violations.Prepend(outcome.Because)) };

        var met = account.Messages.FirstOrDefault(message => message.Id == outcome.Chosen)
            ?? beyond.Concat(account.Changed).Concat(account.Messages).First();
        return blank with
        {
            Point = experiment.Facts(outcome),
            IsWithoutFault = outcome.IsWithoutFault,
            Verdict = verdict,
            Because = verdict is FaultVerdict.Void ? outcome.Because : null,
            Class = met.Class,
            KilledAfterSeconds = outcome.KilledAfterSeconds,
            Found = met.Found,
            IsAfterLease = account.LeasesPassed > 0 && account.Left.Count == 0,
            Violations = violations,
            Absent = account.Absent,
            Timeline = violations.Count > 0 || met.Class is not DeliveryClass.Once ? [.. TimelineOf(experiment, outcome, account, met)] : [],
        };
    }

    /// <summary>
    /// The promise to an ordinary message. After a kill nothing disturbs it. If the process lives, a session that ends can have had it.
    /// </summary>
    private IReadOnlySet<DeliveryClass> PromisedAfter(PointWay way) =>
        way.Facts().KillsProcess ? PointVerdict.PromisedUndisturbed : file.Promised.Union(PointVerdict.PromisedUndisturbed).ToHashSet();

    private IEnumerable<string> ViolationsOf(ProofAccount account, PointOutcome<ProofAccount> outcome, IEnumerable<MessageAccount> beyond) =>
    [
        .. beyond.Select(message => $"{WhichOf(message, outcome)} is {Words.Of(message.Class)} ({string.Join(", ", message.Found)})"),
        .. account.Changed.Select(BecomeOf),
        .. account.Unexpected,
        .. outcome.IsMet && account.Left.Count > 0 && !file.Promised.Contains(DeliveryClass.Stuck)
            ? [$"work is left: {string.Join(", ", account.Left)}{string.Concat(account.Held.Select(held => $"; {held}"))}"]
            : Array.Empty<string>(),
    ];

    private static string WhichOf(MessageAccount message, PointOutcome<ProofAccount> outcome) =>
        outcome.HasOwnEnd ? "a message that no fault of the kit disturbed"
        : outcome.IsWithoutFault ? "a message that nothing disturbed"
        : outcome.IsKilledElsewhere ? "a message at another moment"
        : message.Id == outcome.Chosen ? "the message"
        : outcome.Late.Contains(message.Id) ? "a message that was sent when nothing moved any more"
        : outcome.AfterRestart.Contains(message.Id) ? "a message that was sent after a restart"
        : "an ordinary message after it";

    private string BecomeOf(MessageAccount message) =>
        $"a message before it{SentAt(message.Id)}, {message.Id}, has become {Words.Of(message.Class)} ({string.Join(", ", message.Found)})";

    // One that was sent before an experiment, to warm up, has none.
    private string SentAt(Guid message) => sentAt.TryGetValue(message, out var token) ? $" that was sent at {token}" : "";

    private static string? WhyDisturbed(ProofAccount account) =>
        account.Messages.Concat(account.Changed).FirstOrDefault(message => !PointVerdict.PromisedUndisturbed.Contains(message.Class)) is { } message
            ? $"one is {Words.Of(message.Class)} ({string.Join(", ", message.Found)})"
            : account.Unexpected is [var unexpected, ..] ? unexpected : null;

    private IEnumerable<TimelineStep> TimelineOf(
        PointExperiment experiment, PointOutcome<ProofAccount> outcome, ProofAccount account, MessageAccount met) =>
    [
        new(TimelineKind.Message, $"a message is sent: {met.Id}"),
        .. outcome.IsMet ? StepsOf(experiment, outcome, account, met) :
        [
            new(TimelineKind.LeftOut, (outcome.IsWithoutFault ? "nothing is cut, killed or withheld: " : "it is met at another moment: ") + outcome.Because),
            .. EndsIn(outcome, PointPhase.Before, PointPhase.Met),
        ],
        .. EndOf(outcome, account, met),
    ];

    private static IEnumerable<TimelineStep> StepsOf(
        PointExperiment experiment, PointOutcome<ProofAccount> outcome, ProofAccount account, MessageAccount met)
    {
        var (requests, way) = (outcome.Requests, experiment.Way.Facts());
        IReadOnlyList<Guid> later = [.. outcome.Late, .. outcome.AfterRestart];
        return
        [
            .. EndsIn(outcome, PointPhase.Before),
            .. requests.Count > MostRequests ? [new(TimelineKind.LeftOut, $"… {requests.Count - MostRequests} requests")] : Array.Empty<TimelineStep>(),
            .. requests.Index().Skip(requests.Count - MostRequests)
                .Select(request => StepOf(request.Index + 1, request.Item, isStopped: !way.IsExecuted && request.Index == requests.Count - 1)),
            new(TimelineKind.Moment, way.Moment),
            .. EndsIn(outcome, PointPhase.Met),
            new(TimelineKind.Ordinary, $"ordinary messages are sent after it, and are: {ClassesOf(id => id != met.Id && !later.Contains(id))}"),
            .. OrdinaryOf("when nothing moves any more, others are sent", outcome.Late),
            .. EndsIn(outcome, PointPhase.Late),
            .. OrdinaryOf("at the end it is killed and started again, and others are sent", outcome.AfterRestart),
            .. EndsIn(outcome, PointPhase.AfterRestart),
        ];

        IEnumerable<TimelineStep> OrdinaryOf(string what, IReadOnlyCollection<Guid> messages) =>
            messages.Count > 0 ? [new(TimelineKind.Ordinary, $"{what}, and are: {ClassesOf(messages.Contains)}")] : [];

        string ClassesOf(Func<Guid, bool> chosen) =>
            string.Join(", ", account.Messages.Where(message => chosen(message.Id)).Select(message => Words.Of(message.Class)));
    }

    private static IEnumerable<TimelineStep> EndsIn(PointOutcome<ProofAccount> outcome, params IReadOnlyList<PointPhase> phases)
    {
        foreach (var end in outcome.Events.Where(one => one.IsEnd && phases.Contains(one.Phase)))
        {
            yield return new(TimelineKind.Process, end.Text);
            yield return new(TimelineKind.Restart, "the process is started again");
        }
    }

    /// <summary>The effects that were found when nothing moved any more.</summary>
    private IEnumerable<TimelineStep> EndOf(PointOutcome<ProofAccount> outcome, ProofAccount account, MessageAccount met) =>
    [
        .. met.Output.Select(line => new TimelineStep(TimelineKind.Output, $"the application wrote: {line}")),
        .. outcome.Unsettled is { } unsettled ? [new(TimelineKind.Left, unsettled)] : Array.Empty<TimelineStep>(),
        .. account.LeasesPassed > 0 ? [new(TimelineKind.Left, LeasePassed)] : Array.Empty<TimelineStep>(),
        .. account.Left.Select(left => new TimelineStep(TimelineKind.Left, $"left when nothing moved any more: {left}")),
        .. account.Held.Select(held => new TimelineStep(TimelineKind.Left, held)),
        .. account.Changed.Select(message => new TimelineStep(TimelineKind.Left, BecomeOf(message))),
        .. CommitsOf(account, met).Select(line => new TimelineStep(TimelineKind.Committed, line)),
        new(TimelineKind.Found, $"found of the message: {string.Join(", ", met.Found)}"),
        new(TimelineKind.Class, $"it is {Words.Of(met.Class)}"),
    ];

    private string LeasePassed =>
        $"work was left and nothing moved, so leases{(file.Lease is { } lease ? $" ({lease})" : "")} were made old, as if their time had passed";

    private static List<string> CommitsOf(ProofAccount account, MessageAccount met)
    {
        if (account.Commits is not { } commits)
            return [];

        List<string> lines = [.. commits.Where(commit => commit.Names(met.Id)).Select(commit => $"{commit}")];
        return lines.Count > 0 ? lines : ["no transaction that was committed has its id in a row"];
    }

    private static TimelineStep StepOf(int number, SeenRequest seen, bool isStopped) => new(TimelineKind.Request, seen.Text)
    {
        Number = number,
        Server = seen.Server,
        Connection = seen.Connection,
        Outcome = isStopped ? null : seen.Request.Outcome,
    };
}
