using Kit.Modes;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Wire;

namespace Kit.Prove.Handlings;

/// <summary>
/// The promise that follows from the order of one handling's commits. It is named only where the order decides it: a table that no effect reads can be
/// the reason why a message that comes again is skipped.
/// </summary>
internal static class ModeOfAHandling
{
    private const string Ack = "basic.ack";
    private const string Publish = "basic.publish";
    private const string Prepare = "PREPARE TRANSACTION";

    private const string AtLeastOnce = "at-least-once";
    private const string AtMostOnce = "at-most-once";
    private const string ExactlyOnce = "exactly-once";

    public static SeenMode Of(ProofFile file, Observation seen)
    {
        if (file.Send is SendByHttp)
            return SeenMode.Unknown("it is asked over HTTP, so no receive commits");
        if (file.Effects.OfType<CallEffect>().FirstOrDefault() is { } call)
            return SeenMode.Unknown($"a call, such as of effect '{call.Name}', commits with nothing, and the log does not have it");
        if (seen.Requests.Any(request => request.Text.StartsWith(Prepare, StringComparison.OrdinalIgnoreCase)))
            return SeenMode.Unknown("it prepares transactions, and an undisturbed handling does not show what ends them after a crash");
        if (seen.OfHandling is not { } commits)
            return SeenMode.Unknown("the commit that put the message in was not found in the log");

        var effects = new HashSet<CommittedTransaction>();
        foreach (var row in file.Effects.OfType<RowEffect>().Where(effect => !effect.IsDeadLetter))
        {
            var of = commits.Where(commit => commit.Database == row.Database
                && commit.Written.Any(written => WrittenTables.Names(row.Sql, written.Table) && ProofAccount.Names(written.Text, seen.Message))).ToList();
            if (of.Count == 0)
                return SeenMode.Unknown($"no commit has a row of effect '{row.Name}' with the message's id");
            effects.UnionWith(of);
        }

        return seen.QueueTables.Count > 0 ? OfTable(file, seen, commits, effects) : OfBroker(file, seen, commits, effects);
    }

    private static SeenMode OfBroker(
        ProofFile file, Observation seen, IReadOnlyList<CommittedTransaction> commits, IReadOnlySet<CommittedTransaction> effects)
    {
        if (!file.NeedsBroker)
            return SeenMode.Unknown("no table and no queue was seen into which the message was put");

        var requests = seen.Requests.Index().ToList();
        var acks = requests.Where(request => Begins(request.Item, Ack)).Select(request => request.Index).ToList();
        var work = requests.Where(request => request.Item.Server == Placeholders.Broker
                ? Begins(request.Item, Publish) && request.Item.Request.Carries(seen.Message)
                : InTransactionOf(request.Item, seen.Requests).Any(other => other.Request.Carries(seen.Message)))
            .Select(request => request.Index).ToList();
        if (work.Count == 0 || effects.Any(effect => !seen.Requests.Any(request => request.Server == effect.Database)))
            return SeenMode.Unknown("no request has the message's id in a form that the kit reads");
        if (acks.Count > 1)
            return SeenMode.Unknown($"it acknowledged {acks.Count} times");
        if (OtherTableIn(file, commits, seen) is { } other)
            return Remembers(other);
        if (acks is [])
            return ReceivedFirst(file, effects, "it acknowledges nothing, so the broker forgets a message that it delivers");
        if (acks[0] < work[0])
        {
            // The broker answers no acknowledgement: the work begins before it is known to have arrived.
            return SeenMode.Unknown(
                $"the acknowledgement comes first, as in {TransactionMode.TransactionsOff}, so a kill loses the message, and a cut connection can bring it " +
                "again");
        }

        return acks[0] < work[^1]
            ? SeenMode.Unknown("the acknowledgement comes before some of the work and after the rest")
            : ReceivedLast(effects, "the acknowledgement comes last");
    }

    private static SeenMode OfTable(
        ProofFile file, Observation seen, IReadOnlyList<CommittedTransaction> commits, IReadOnlySet<CommittedTransaction> effects)
    {
        if (file.Effects.FirstOrDefault(effect => effect is QueueEffect && !effect.IsDeadLetter) is { } sent)
            return SeenMode.Unknown($"effect '{sent.Name}' is on the broker, and the database's log does not have its place among the commits");

        var changes = commits.Where(commit => commit.Rows.Any(row => seen.QueueTables.Contains(row.Table))).ToList();
        if (changes is not [.., var receive])
            return SeenMode.Unknown($"no commit changes the message's row in {Listed(seen.QueueTables)}");

        var isTogether = changes.Count == 1 && effects.All(effect => effect == receive);
        // What is written with the receive and every effect, or later, finds no message that comes again.
        if (OtherTableIn(file, commits.Where(one => !isTogether || (one != receive && one.CommittedUtc <= receive.CommittedUtc)), seen) is { } other)
            return Remembers(other);
        if (isTogether)
            return new SeenMode(ExactlyOnce, TransactionMode.Shared.Name, "one commit has the receive and every effect");

        var isDeleted = receive.Rows.Any(row => row.Kind == "DELETE" && seen.QueueTables.Contains(row.Table));
        if (effects.All(effect => effect.CommittedUtc > receive.CommittedUtc) && isDeleted)
            return ReceivedFirst(file, effects, "the message's row is deleted first, before the work commits");
        if (effects.Any(effect => effect.CommittedUtc >= receive.CommittedUtc))
            return SeenMode.Unknown("the message's row changes at the moment of an effect's commit or before it, as in no mode of the kit");
        if (changes.Count == 1)
            return ReceivedLast(effects, "the message's row changes last");

        return file.Later.Count > 0
            ? ReceivedLast(effects, "the message's row changes last, and a mark on it before that becomes old")
            : SeenMode.Unknown(
                "it marks the message's row in a commit of its own before the work, and the file does not say with 'later' when a dead process's " +
                "mark is old");
    }

    private static SeenMode ReceivedFirst(ProofFile file, IReadOnlySet<CommittedTransaction> effects, string first) =>
        effects.Count + file.Effects.Where(effect => effect.IsSent && !effect.IsDeadLetter).Sum(effect => effect.PerMessage) > 1
            ? SeenMode.Unknown($"{first}, and a kill between its effects leaves it half done, which no named promise allows")
            : new SeenMode(AtMostOnce, TransactionMode.TransactionsOff.Name, first);

    private static SeenMode ReceivedLast(IReadOnlySet<CommittedTransaction> effects, string last)
    {
        // A key that is there already refuses it, for example.
        var because = $"{last}. That holds if a message that comes again is neither skipped nor refused because of its effects that are there: " +
            "an undisturbed handling does not show it";
        return effects.Count switch
        {
            0 => new SeenMode(AtLeastOnce, Mode: null, because),
            1 => new SeenMode(AtLeastOnce, TransactionMode.DtcOff.Name, $"the rows in one commit, and {because}"),
            var count => new SeenMode(AtLeastOnce, TransactionMode.ScopeOff.Name, $"the rows in {count} commits, and {because}"),
        };
    }

    private static SeenMode Remembers(string table) => SeenMode.Unknown(
        $"it writes {table}, too, which no effect reads, and an undisturbed handling does not show whether a message that comes again " +
        "is skipped because of it");

    /// <summary>A table that is neither of the queue nor of an effect.</summary>
    private static string? OtherTableIn(ProofFile file, IEnumerable<CommittedTransaction> commits, Observation seen) => commits
        .SelectMany(commit => commit.Rows).Select(row => row.Table)
        .FirstOrDefault(table => !seen.QueueTables.Contains(table) && !file.Reads.Any(sql => WrittenTables.Names(sql, table)));

    private static IEnumerable<SeenRequest> InTransactionOf(SeenRequest one, IEnumerable<SeenRequest> all) =>
        all.Where(other => other.Connection == one.Connection && other.Request.Transaction == one.Request.Transaction);

    private static bool Begins(SeenRequest request, string method) => request.Text.StartsWith(method, StringComparison.Ordinal);

    private static string Listed(IEnumerable<string> tables) => string.Join(", ", tables.Order(StringComparer.Ordinal));
}
