using Kit.Runner.Results.Points;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Points;

/// <summary>The requests of one undisturbed handling, some of which are points.</summary>
internal sealed class Handling
{
    private readonly IReadOnlyList<(RequestId Id, SeenRequest Seen)> requests;

    private Handling(IReadOnlyList<(RequestId Id, SeenRequest Seen)> requests) => this.requests = requests;

    /// <summary>All requests from the message's arrival until nothing was left to do, also polls.</summary>
    private IReadOnlyList<SeenRequest> Asked { get; init; } = [];

    /// <summary>Requests whose transactions begin, up to them, as one of a process without a message does.</summary>
    private HashSet<SeenRequest> Polled { get; init; } = [];

    /// <summary>Requests in a transaction that was open before the message came, and that a process without a message does not make.</summary>
    public IReadOnlyList<(string Server, string Text, string? Outcome)> Hidden { get; private init; } = [];

    /// <summary>True if such a transaction ended before the message was handled. If not, it holds a lock, and not the message.</summary>
    public bool HasEndedHidden { get; private init; }

    /// <summary>True if the message was handled in a transaction that was open before it came. Its requests there cannot be told from a poll.</summary>
    public bool IsHidden => HasEndedHidden && Hidden.Count > 0;

    /// <summary>The requests that are no points: a process without a message makes them, too, or they are in a transaction that does not end.</summary>
    public IReadOnlySet<string> Polls { get; private init; } = new HashSet<string>();

    /// <summary>A request in a list.</summary>
    public static string NameOf(string server, string text) => $"{text} ({server})";

    /// <summary>True if a request in a list was sent to this server.</summary>
    public static bool IsTo(string name, string server) => name.EndsWith($" ({server})", StringComparison.Ordinal);

    /// <param name="seen">The requests from the message's arrival until nothing was left to do.</param>
    /// <param name="idle">The transactions of a process without a message, from <see cref="TransactionsIn"/>: polls and housekeeping are no points.</param>
    /// <param name="hidden">See <see cref="Hidden"/>; <see langword="null"/>: none.</param>
    public static Handling Of(
        IReadOnlyList<SeenRequest> seen, IReadOnlySet<string> idle, IReadOnlyList<(string Server, string Text, string? Outcome)>? hidden = null,
        bool hasEndedHidden = false)
    {
        var sent = new Dictionary<(string, string), int>();
        var answered = new Dictionary<(string, string, string?), int>();
        var begun = idle.SelectMany(BeginningsOf).ToHashSet();
        var ofIdle = Transactions(seen).Where(transaction => idle.Contains(NameOf(transaction))).SelectMany(transaction => transaction).ToHashSet();
        return new Handling([.. seen.Where(one => !ofIdle.Contains(one)).Select(one => (IdOf(one), one))])
        {
            Asked = seen,
            Polls = ofIdle.Select(NameOf).Concat((hidden ?? []).Select(request => NameOf(request.Server, request.Text))).ToHashSet(),
            Polled = seen.Where(one => begun.Contains(NameOf([.. InTransactionOf(one, seen), one]))).ToHashSet(),
            Hidden = hidden ?? [],
            HasEndedHidden = hasEndedHidden,
        };

        // Polls are not counted: how many come during a handling differs.
        RequestId IdOf(SeenRequest one) => new(
            one.Server, one.Text, one.Request.Outcome, CountIn(sent, (one.Server, one.Text)),
            CountIn(answered, (one.Server, one.Text, one.Request.Outcome)));
    }

    /// <summary>The transactions of a process without a message, each as one text with its answers.</summary>
    /// <param name="texts">The texts that count, from <see cref="TextsOf"/>; <see langword="null"/>: all.</param>
    public static IReadOnlySet<string> TransactionsIn(IReadOnlyList<SeenRequest> seen, IReadOnlySet<string>? texts = null) =>
        Transactions(seen).Where(transaction => texts is null || texts.Contains(TextOf(transaction))).Select(NameOf).ToHashSet();

    /// <summary>The transactions, each as one text without its answers.</summary>
    public static IReadOnlySet<string> TextsOf(IReadOnlyList<SeenRequest> seen) => Transactions(seen).Select(TextOf).ToHashSet();

    /// <summary>The requests of all other transactions, as in a list.</summary>
    public static IEnumerable<string> RequestsOutside(IReadOnlyList<SeenRequest> seen, IReadOnlySet<string> texts) =>
        Transactions(seen).Where(transaction => !texts.Contains(TextOf(transaction))).SelectMany(transaction => transaction.Select(NameOf));

    /// <summary>
    /// The points of several handlings, in the order of the one that has most of them. A request counts if more than one handling has it, because a
    /// poll or a pause can add one, and if none has it with another answer.
    /// </summary>
    /// <param name="handlings">At least one. With one, all its requests count.</param>
    public static IReadOnlyList<CrashPoint> PointsOf(IReadOnlyList<Handling> handlings)
    {
        var common = CommonKeysOf(handlings);
        // Of those that have all points, one with a request more than the others would give them another place.
        var model = handlings.OrderByDescending(handling => handling.Keys.Count(common.Contains)).ThenBy(handling => handling.requests.Count).First();
        var points = model.requests.Where(one => common.Contains(KeyOf(one.Id))).ToList();
        var orders = handlings.Select(handling => handling.Keys.Index().ToDictionary(one => one.Item, one => one.Index)).ToList();
        return [.. points.Select((one, at) => PointOf(one.Id, one.Seen, at))];

        CrashPoint PointOf(RequestId id, SeenRequest seen, int at)
        {
            var before = InTransactionOf(seen, model.Asked).ToList();
            return new CrashPoint(at + 1, id, before.LastOrDefault()?.Text, seen.Request.HasAnswer, seen.Request.CanBeProved)
            {
                Leading = [.. points.Index().Where(other => before.Contains(other.Item.Seen)).Select(other => other.Index + 1)],
                Place = before.Count + 1,
                Unordered = [.. Enumerable.Range(0, points.Count).Where(other => other != at && Differ(other, at)).Select(other => other + 1)],
                IsPolled = model.Polled.Contains(seen),
            };
        }

        bool Differ(int other, int at)
        {
            var (one, two) = (KeyOf(points[other].Id), KeyOf(points[at].Id));
            return orders.Exists(order => order.TryGetValue(one, out var first) && order.TryGetValue(two, out var second) && first < second != other < at);
        }
    }

    /// <summary>
    /// Requests of a handling that no other one has, at all, so often or with that answer, and those that one has with another answer. They are no points,
    /// and a request like it can be one.
    /// </summary>
    /// <inheritdoc cref="PointsOf" path="/param"/>
    public static IEnumerable<string> RareIn(IReadOnlyList<Handling> handlings)
    {
        var common = CommonKeysOf(handlings);
        return handlings.SelectMany(handling => handling.requests).Where(one => !common.Contains(KeyOf(one.Id))).Select(one => NameOf(one.Seen)).Distinct();
    }

    /// <summary>The requests that more than one handling has, and none with another answer; of one handling, all.</summary>
    private static HashSet<(string Server, string Text, string? Outcome, int)> CommonKeysOf(IReadOnlyList<Handling> handlings)
    {
        var all = handlings.Select(handling => handling.Keys.ToHashSet()).ToList();
        var common = all.SelectMany(keys => keys).CountBy(key => key).Where(key => key.Value >= Math.Min(2, all.Count)).Select(key => key.Key).ToHashSet();
        // Two of three answers can be alike by chance.
        return common.Where(key => !all.Exists(keys => !keys.Contains(key) && keys.Except(common).Any(other => IsOnlyAnsweredOtherwise(other, key))))
            .ToHashSet();
    }

    private static bool IsOnlyAnsweredOtherwise(
        (string Server, string Text, string? Outcome, int) one, (string Server, string Text, string? Outcome, int) other) =>
        (one.Server, one.Text) == (other.Server, other.Text) && one.Outcome != other.Outcome;

    private static (string Server, string Text, string? Outcome, int) KeyOf(RequestId id) => (id.Server, id.Text, id.Outcome, id.Answered);

    private IEnumerable<(string Server, string Text, string? Outcome, int)> Keys => requests.Select(one => KeyOf(one.Id));

    /// <summary>The requests before it in its transaction.</summary>
    private static IEnumerable<SeenRequest> InTransactionOf(SeenRequest seen, IEnumerable<SeenRequest> all) => all
        .Where(one => one.Connection == seen.Connection && one.Request.Transaction == seen.Request.Transaction).TakeWhile(one => one != seen);

    /// <summary>A transaction's name up to each of its requests.</summary>
    private static IEnumerable<string> BeginningsOf(string transaction)
    {
        for (var end = transaction.IndexOf('\n', StringComparison.Ordinal); end >= 0; end = transaction.IndexOf('\n', end + 1))
            yield return transaction[..end];
        yield return transaction;
    }

    private static IEnumerable<IGrouping<(int, int), SeenRequest>> Transactions(IEnumerable<SeenRequest> seen) =>
        seen.GroupBy(one => (one.Connection, one.Request.Transaction));

    private static string NameOf(SeenRequest seen) => NameOf(seen.Server, seen.Text);

    private static string NameOf(IEnumerable<SeenRequest> transaction) =>
        string.Join('\n', transaction.Select(one => $"{one.Server}: {one.Text} → {one.Request.Outcome}"));

    private static string TextOf(IEnumerable<SeenRequest> transaction) => string.Join('\n', transaction.Select(NameOf));

    private static int CountIn<T>(Dictionary<T, int> counts, T key) where T : notnull => counts[key] = counts.GetValueOrDefault(key) + 1;
}
