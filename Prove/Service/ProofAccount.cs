using Kit.Guarantees;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Proofs;

namespace Kit.Prove.Service;

/// <summary>The account of some messages of an application.</summary>
/// <param name="Left">The work that was left when nothing moved any more.</param>
internal sealed record ProofAccount(IReadOnlyList<MessageAccount> Messages, IReadOnlyList<string> Left)
{
    private const int LengthOfId = 36;

    /// <summary>Messages of earlier experiments whose class is now one that is not promised.</summary>
    public IReadOnlyList<MessageAccount> Changed { get; init; } = [];

    /// <summary>The transactions that were committed; <see langword="null"/> if the file does not ask for them.</summary>
    public IReadOnlyList<CommittedTransaction>? Commits { get; init; }

    /// <summary>What holds the work that was left, in sentences.</summary>
    public IReadOnlyList<string> Held { get; init; } = [];

    /// <summary>Times at which work was left, nothing moved, and leases were made old.</summary>
    public int LeasesPassed { get; init; }

    /// <summary>Calls to effects that came around the kill, and were refused.</summary>
    public int CallsRefused { get; init; }

    /// <summary>The dead letters whose table or queue was never there.</summary>
    public IReadOnlyList<string> Absent { get; init; } = [];

    /// <summary>Effects of no message that was sent, as texts.</summary>
    public IReadOnlyList<string> Unexpected { get; init; } = [];

    /// <param name="found">Texts with ids, by the effect's name.</param>
    public static ProofAccount Of(
        IEnumerable<Guid> messages, IReadOnlyList<Effect> effects, IReadOnlyDictionary<string, IReadOnlyList<string>> found, IReadOnlyList<string> left,
        IReadOnlyList<string> output)
    {
        var countsOf = effects.Select(effect => found[effect.Name].SelectMany(text => IdsIn(text).Distinct()).CountBy(id => id).ToDictionary()).ToList();
        return new(
        [
            .. from message in messages
               let counts = countsOf.ConvertAll(of => of.GetValueOrDefault(message))
               let foundOfIt = effects.Zip(counts, (effect, count) => new FoundEffect(effect.Name, count, effect.PerMessage))
               select new MessageAccount(message, ClassOf(effects, counts, left.Count > 0), [.. foundOfIt])
               {
                   Output = [.. output.Where(line => Names(line, message)).Take(MessageAccount.MostLines)],
               },
        ],
        left);
    }

    /// <summary>True if a text has the id of a message.</summary>
    public static bool Names(string text, Guid message) => text.Contains($"{message}", StringComparison.OrdinalIgnoreCase);

    /// <summary>The texts that have the id of no message: an application that makes up an id, or writes none.</summary>
    public static IEnumerable<string> OfNobody(IEnumerable<string> texts, IReadOnlySet<Guid> sent) =>
        texts.Where(text => !IdsIn(text).Any(sent.Contains));

    /// <summary>The effects of no message, as reasons against a measurement.</summary>
    public static IEnumerable<string> UnexpectedIn(IReadOnlyDictionary<string, IReadOnlyList<string>> found, HashSet<Guid> sent) =>
        from effect in found
        let strange = OfNobody(effect.Value, sent).ToList()
        where strange.Count > 0
        select $"effect '{effect.Key}' of no message that was sent: {Figures.Count(strange.Count)} ({strange[0]})";

    /// <summary>Every UUID in a text.</summary>
    public static IEnumerable<Guid> IdsIn(string text)
    {
        for (var from = 0; from + LengthOfId <= text.Length; from++)
        {
            if (Guid.TryParseExact(text.AsSpan(from, LengthOfId), "D", out var id))
                yield return id;
        }
    }

    private static DeliveryClass ClassOf(IReadOnlyList<Effect> effects, List<int> counts, bool isWorkLeft)
    {
        var all = effects.Zip(counts).ToList();
        var isGivenUp = all.Exists(pair => pair.First.IsDeadLetter && pair.Second > 0);
        var pairs = all.FindAll(pair => !pair.First.IsDeadLetter);
        if (isGivenUp)
            return pairs.TrueForAll(pair => pair.Second == 0) ? DeliveryClass.CleanError : DeliveryClass.Zombie;
        if (pairs.TrueForAll(pair => pair.Second == 0))
            return isWorkLeft ? DeliveryClass.Stuck : DeliveryClass.Lost;

        if (pairs.Exists(pair => pair.Second < pair.First.PerMessage))
            return DeliveryClass.Torn;

        var more = pairs.Where(pair => pair.Second > pair.First.PerMessage).ToList();
        return more.Count == 0 ? DeliveryClass.Once
            : more.TrueForAll(pair => pair.First.IsSent) && pairs.Exists(pair => !pair.First.IsSent) ? DeliveryClass.DuplicatedOutgoing
            : DeliveryClass.Duplicated;
    }
}

/// <summary>The account of one message.</summary>
internal sealed record MessageAccount(Guid Id, DeliveryClass Class, IReadOnlyList<FoundEffect> Found)
{
    public const int MostLines = 10;

    /// <summary>The first lines that the application wrote about it.</summary>
    public IReadOnlyList<string> Output { get; init; } = [];
}
