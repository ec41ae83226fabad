using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Results;

namespace Kit.Prove.Drains;

/// <summary>The moments at which messages had all their effects.</summary>
internal static class EffectMoments
{
    private const string Deleted = "DELETE:";

    /// <summary>
    /// A row's moment is the last commit that writes the id of its message into a table that the effect's statement names: a message that waits in the same
    /// table was written there before. A sent message has the moment of its receipt, and a call that of its arrival.
    /// </summary>
    /// <param name="seen">The sent messages and calls, by the effect's name.</param>
    /// <exception cref="KitException">An effect of a message has no moment.</exception>
    public static IReadOnlyList<DateTimeOffset> Of(
        ProofFile file, IReadOnlyCollection<Guid> messages, IReadOnlyList<CommittedTransaction> commits,
        IReadOnlyDictionary<string, IReadOnlyList<SeenEffect>> seen)
    {
        var latest = new Dictionary<Guid, DateTimeOffset>();
        foreach (var effect in file.Effects.Where(effect => !effect.IsDeadLetter))
        {
            var moments = new Dictionary<Guid, DateTimeOffset>();
            foreach (var (text, moment) in effect is RowEffect row ? RowsOf(row, commits) : seen[effect.Name].Select(one => (one.Text, one.Moment)))
            {
                foreach (var id in ProofAccount.IdsIn(text))
                    moments[id] = Later(moment, moments.GetValueOrDefault(id));
            }

            if (messages.FirstOrDefault(message => !moments.ContainsKey(message)) is var missing && missing != Guid.Empty)
            {
                throw new KitException(
                    $"{file.Path}: effect '{effect.Name}' of message {missing} is there, and no committed row with its id in a table that its statement names.",
                    "Let the statement name the table that the service writes, not a view, and let the row have the whole id.")
                { IsUsage = true };
            }

            foreach (var message in messages)
                latest[message] = Later(moments[message], latest.GetValueOrDefault(message));
        }

        return [.. latest.Values.Order()];
    }

    /// <summary>The clock of a round: it starts at the first moment after the warm-up.</summary>
    /// <param name="moments">Ascending.</param>
    /// <returns>Milliseconds from the start to each later moment. What was committed together with the first is not in it.</returns>
    public static IReadOnlyList<double> OffsetsOf(IReadOnlyList<DateTimeOffset> moments, int warmUp)
    {
        var start = moments[warmUp];
        return [.. moments.Where(moment => moment > start).Select(moment => Math.Round((moment - start).TotalMilliseconds, 3))];
    }

    private static IEnumerable<(string Text, DateTimeOffset Moment)> RowsOf(RowEffect row, IReadOnlyList<CommittedTransaction> commits) =>
        from commit in commits
        where commit.Database == row.Database
        from change in commit.Changes
        where IsWritten(change) && WrittenTables.Names(row.Sql, TableOf(change))
        select (change, commit.CommittedUtc);

    // public.placed_order: INSERT: id[uuid]:'…'
    private static bool IsWritten(string change) =>
        !change[(change.IndexOf(": ", StringComparison.Ordinal) + 2)..].StartsWith(Deleted, StringComparison.Ordinal);

    private static string TableOf(string change)
    {
        var qualified = change[..change.IndexOf(": ", StringComparison.Ordinal)];
        return qualified[(qualified.LastIndexOf('.') + 1)..].Trim('"');
    }

    private static DateTimeOffset Later(DateTimeOffset one, DateTimeOffset other) => one > other ? one : other;
}
