using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;

namespace Kit.Prove.Drains;

/// <summary>Two builds of a service, drained in turns: round by round, each into a folder of its own.</summary>
internal static class TwoBuilds
{
    public const string Before = "before";
    public const string After = "after";

    /// <summary>The proof file of the other build: the path of a file, or a folder that has one of the same name.</summary>
    /// <exception cref="KitException">There is none, or the two cannot be compared.</exception>
    public static ProofFile Read(ProofFile after, string against)
    {
        var path = Directory.Exists(against) ? Path.Combine(against, Path.GetFileName(after.Path)) : against;
        var before = ProofFileReader.Parse(path, ProofFileReader.TextOf(path));
        var different =
            before.Name != after.Name ? $"its name is {before.Name}"
            : before.Send.GetType() != after.Send.GetType() ? "its messages get in in another way"
            : !EffectsOf(before).SequenceEqual(EffectsOf(after)) ? "its effects are others"
            : before.Text == after.Text && StoredSubject.FingerprintOf(before) == StoredSubject.FingerprintOf(after)
                ? "it is the same build: neither the file nor what its command names differs"
            : null;
        return different is null
            ? before
            : throw new KitException($"--against: {path} cannot be compared with {after.Path}: {different}.", "Name the file of another build.")
            { IsUsage = true };
    }

    /// <summary>Makes the rounds of both, which take turns in going first.</summary>
    /// <inheritdoc cref="DrainRun.RunAsync" path="/exception"/>
    public static async Task<DrainComparison> RunAsync(DrainPlan before, DrainPlan after, Action<string> say, CancellationToken cancellationToken)
    {
        DrainDocument? then = null, now = null;
        var rounds = after.Rounds;
        for (var round = 1; round <= rounds; round++)
        {
            foreach (var isBefore in round % 2 == 1 ? [true, false] : new[] { false, true })
            {
                say($"Round {Figures.Plain(round)}, {(isBefore ? Before : After)}:");
                var made = await new DrainRun((isBefore ? before : after) with { Rounds = rounds, UpTo = round }, say).RunAsync(cancellationToken);
                rounds = made.Planned;
                (then, now) = isBefore ? (made, now) : (then, made);
                RequireOneLog(then, now);
                // What fails once fails in each round.
                if (!made.Rounds.Any(one => one.Round == round && one.Outcome.IsValid()))
                    return Compare(before.File, after.File, then, now);
            }
        }

        return Compare(before.File, after.File, then, now);
    }

    /// <summary>A comparison in which each document is without the passwords of the other file, too: a report shows both.</summary>
    public static DrainComparison Compare(ProofFile before, ProofFile after, DrainDocument? then, DrainDocument? now)
    {
        return new DrainComparison(Masked(then), Masked(now));

        DrainDocument? Masked(DrainDocument? document) => document is null ? null : before.Secrets.Masked(after.Secrets.Masked(document));
    }

    /// <summary>Decoding costs the server something, and its moments are others.</summary>
    /// <exception cref="KitException">The log was decoded for one of them alone.</exception>
    internal static void RequireOneLog(DrainDocument? then, DrainDocument? now)
    {
        if (then is not null && now is not null && then.HasLog != now.HasLog)
        {
            throw new KitException(
                $"The two builds cannot be compared: the server's log was decoded for {(then.HasLog ? Before : After)} alone. " +
                string.Join(' ', then.Lacks ?? now.Lacks ?? []),
                "Then name another folder with --out.")
            { IsUsage = true };
        }
    }

    private static IEnumerable<string> EffectsOf(ProofFile file) => file.Effects.Select(effect => $"{effect.Name} {effect.PerMessage}");
}
