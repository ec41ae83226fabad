using System.Collections.Concurrent;
using Kit.Guarantees;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Wire;

namespace Kit.Runner.Proofs;

/// <summary>Judges a message by the promise of the file, and tells how it came to the result.</summary>
internal sealed class ProofJudge(ProofFile file)
{
    private const int MostRequests = 60;

    /// <summary>The experiment of each message.</summary>
    private readonly ConcurrentDictionary<Guid, PointToken> sentAt = new();

    /// <inheritdoc cref="PointPromises{TAccount}"/>
    public PointPromises<ProofAccount> Promises => new(
        file.Promised, WhyDisturbed, account => account.Left.Count > 0);

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
        var classes = beyond.Select(message => message.Class).Concat(account.Unexpected.Select(_ => DeliveryClass.Duplicated));
        var verdict = outcome.IsMet
            ? PointVerdict.Of(outcome.Unsettled, violations.Count > 0, classes)
            : PointVerdict.OfNotMet(outcome.Unsettled, violations.Count > 0, classes.Concat(account.Changed.Select(message => message.Class)));
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
            Violations = violations,
            Timeline = violations.Count > 0 || met.Class is not DeliveryClass.Once ? [.. TimelineOf(experiment, outcome, account, met)] : [],
        };
    }

    /// <summary>
    /// The promise to an ordinary message. After a kill nothing disturbs it. If the process lives, a session that ends can have had it.
    /// </summary>
    private IReadOnlySet<DeliveryClass> PromisedAfter(PointWay way) =>
        way.Facts().KillsProcess ? PointVerdict.PromisedUndisturbed : file.Promised.Union(PointVerdict.PromisedUndisturbed).ToHashSet();

    private IEnumerable<string> ViolationsOf(ProofAccount account, PointOutcome<ProofAccount> outcome, IEnumerable<MessageAccount> beyond)
    {
        foreach (var message in beyond)
        {
            var which = outcome.HasOwnEnd ? "a message that no fault of the kit disturbed"
                : outcome.IsWithoutFault ? "a message that nothing disturbed"
                : outcome.IsKilledElsewhere ? "a message at another moment"
                : message.Id == outcome.Chosen ? "the message"
                : outcome.Late.Contains(message.Id) ? "a message that was sent when nothing moved any more"
                : outcome.AfterRestart.Contains(message.Id) ? "a message that was sent after a restart"
                : "an ordinary message after it";
            yield return $"{which} is {Words.Of(message.Class)} ({string.Join(", ", message.Found)})";
        }

        foreach (var message in account.Changed)
            yield return BecomeOf(message);

        foreach (var text in account.Unexpected)
            yield return text;

        if (outcome.IsMet && account.Left.Count > 0 && !file.Promised.Contains(DeliveryClass.Stuck))
            yield return $"work is left: {string.Join(", ", account.Left)}";
    }

    private string BecomeOf(MessageAccount message) =>
        $"a message before it{SentAt(message.Id)}, {message.Id}, has become {Words.Of(message.Class)} ({string.Join(", ", message.Found)})";

    // One that was sent before an experiment, to warm up, has none.
    private string SentAt(Guid message) => sentAt.TryGetValue(message, out var token) ? $" that was sent at {token}" : "";

    private static string? WhyDisturbed(ProofAccount account) =>
        account.Messages.Concat(account.Changed).FirstOrDefault(message => !PointVerdict.PromisedUndisturbed.Contains(message.Class)) is { } message
            ? $"one is {Words.Of(message.Class)} ({string.Join(", ", message.Found)})"
            : account.Unexpected is [var unexpected, ..] ? unexpected : null;

    private IEnumerable<TimelineStep> TimelineOf(
        PointExperiment experiment, PointOutcome<ProofAccount> outcome, ProofAccount account, MessageAccount met)
    {
        yield return new(TimelineKind.Message, $"a message is sent: {met.Id}");
        if (!outcome.IsMet)
        {
            yield return new(
                TimelineKind.LeftOut, (outcome.IsWithoutFault ? "nothing is cut, killed or withheld: " : "it is met at another moment: ") + outcome.Because);
            foreach (var step in EndsIn(outcome, PointPhase.Before, PointPhase.Met))
                yield return step;
            foreach (var step in EndOf(outcome, account, met))
                yield return step;
            yield break;
        }

        foreach (var step in EndsIn(outcome, PointPhase.Before))
            yield return step;
        var requests = outcome.Requests;
        if (requests.Count > MostRequests)
            yield return new(TimelineKind.LeftOut, $"… {requests.Count - MostRequests} requests");
        foreach (var (at, request) in requests.Index().Skip(requests.Count - MostRequests))
            yield return StepOf(at + 1, request, isStopped: !experiment.Way.Facts().IsExecuted && at == requests.Count - 1);
        yield return new(TimelineKind.Moment, experiment.Way.Facts().Moment);
        foreach (var step in EndsIn(outcome, PointPhase.Met))
            yield return step;
        IReadOnlyList<Guid> later = [.. outcome.Late, .. outcome.AfterRestart];
        yield return new(TimelineKind.Ordinary, $"ordinary messages are sent after it, and are: {ClassesOf(id => id != met.Id && !later.Contains(id))}");
        if (outcome.Late.Count > 0)
            yield return new(TimelineKind.Ordinary, $"when nothing moves any more, others are sent, and are: {ClassesOf(outcome.Late.Contains)}");
        foreach (var step in EndsIn(outcome, PointPhase.Late))
            yield return step;
        if (outcome.AfterRestart.Count > 0)
        {
            yield return new(
                TimelineKind.Ordinary,
                $"at the end it is killed and started again, and others are sent, and are: {ClassesOf(outcome.AfterRestart.Contains)}");
        }

        foreach (var step in EndsIn(outcome, PointPhase.AfterRestart))
            yield return step;
        foreach (var step in EndOf(outcome, account, met))
            yield return step;

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
    private IEnumerable<TimelineStep> EndOf(PointOutcome<ProofAccount> outcome, ProofAccount account, MessageAccount met)
    {
        foreach (var line in met.Output)
            yield return new(TimelineKind.Output, $"the application wrote: {line}");
        if (outcome.Unsettled is { } unsettled)
            yield return new(TimelineKind.Left, unsettled);
        foreach (var left in account.Left)
            yield return new(TimelineKind.Left, $"left when nothing moved any more: {left}");
        foreach (var message in account.Changed)
            yield return new(TimelineKind.Left, BecomeOf(message));
        foreach (var line in CommitsOf(account, met))
            yield return new(TimelineKind.Committed, line);
        yield return new(TimelineKind.Found, $"found of the message: {string.Join(", ", met.Found)}");
        yield return new(TimelineKind.Class, $"it is {Words.Of(met.Class)}");
    }

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
