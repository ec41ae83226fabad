using Kit.Guarantees;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Results.Faults;

/// <summary>The broken promises of a storm, with the reasons that its faults allow: a limit explains no more messages than its faults can have met.</summary>
public static class StormLimits
{
    /// <summary>The violations of a storm, one for too many touched messages first.</summary>
    /// <param name="found">The messages in other classes than the promised ones, with the reasons of their limits.</param>
    /// <param name="limits">The known limits of the cell's storms.</param>
    /// <param name="unsettled">How many messages can be received and not settled at the same time.</param>
    public static IReadOnlyList<Violation> ViolationsOf(
        StormFacts facts, IReadOnlyList<Violation> found, IReadOnlyList<KnownLimit> limits, int unsettled)
    {
        ArgumentNullException.ThrowIfNull(facts);
        var tooWide =
            (from limit in limits
             where found.Count(violation => violation.Known == limit.Reason)
                 > limit.MostInAStorm(facts.Kills, facts.Cuts, facts.ServerCrashes, unsettled)
             select limit.Reason).ToHashSet();
        List<Violation> explained =
            [.. found.Select(violation => violation.Known is { } known && tooWide.Contains(known) ? violation with { Known = null } : violation)];
        if (facts.TooMany is not { } tooMany)
            return explained;

        // Messages that a limit explains are not among those whose number is promised.
        List<string> reasons = [.. explained.Select(violation => violation.Known).OfType<string>()];
        return [tooMany with { Known = facts.Touched - reasons.Count <= facts.MostTouched ? reasons[0] : null }, .. explained];
    }

    /// <summary>
    /// The violation that one crash of a server left too many messages in promised classes other than once; <see langword="null"/>: it did not. Messages in
    /// other classes are violations of their own.
    /// </summary>
    /// <param name="unsettled">How many messages can be received and not settled at the same time.</param>
    /// <param name="prefetch">How many messages a broker pushes ahead; 0 for a queue in a database.</param>
    public static Violation? TooManyAfterACrash(Account account, StormPromise promise, int unsettled, int prefetch)
    {
        ArgumentNullException.ThrowIfNull(account);
        ArgumentNullException.ThrowIfNull(promise);
        var most = promise.Most(kills: 0, cuts: 1, unsettled, prefetch);
        var touched = account.Verdicts.Count(verdict => verdict.Class is not DeliveryClass.Once && !verdict.Beyond(promise.Classes).Any());
        return touched > most
            ? new Violation(MessageId: null, $"{touched} messages were not handled exactly once; a crash of a server may affect {most}", [])
            : null;
    }
}
