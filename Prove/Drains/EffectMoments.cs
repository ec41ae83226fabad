using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Results;

namespace Kit.Prove.Drains;

/// <summary>The moments at which messages had all their effects.</summary>
internal static class EffectMoments
{
    /// <summary>A round has at least this many times the messages of one moment.</summary>
    private const int TimesOneMoment = 100;

    /// <summary>At most one of this many messages is handled in the first hundredth of the time.</summary>
    private const int TimesTheStart = 20;

    /// <summary>
    /// A row's moment is the last commit since the service's start that writes the id of its message into a table that the effect's statement names. A sent
    /// message has the moment of its receipt, and a call that of its arrival. An effect that the deletion of a row brings about has no moment if the kit wrote
    /// that row. If the service wrote it earlier, the effect gets the moment of that write, which is too early.
    /// </summary>
    /// <param name="startedUtc">The service's start. The kit put the messages in before it, perhaps into a table that a statement names.</param>
    /// <param name="seen">The sent messages and calls, by the effect's name.</param>
    /// <exception cref="KitException">An effect of a message has no moment.</exception>
    /// <returns>Those of each message, by the last of them.</returns>
    public static IReadOnlyList<MessageMoments> Of(
        ProofFile file, IReadOnlyCollection<Guid> messages, DateTimeOffset startedUtc, IReadOnlyList<CommittedTransaction> commits,
        IReadOnlyDictionary<string, IReadOnlyList<SeenEffect>> seen)
    {
        var all = messages.ToDictionary(message => message, _ => new List<DateTimeOffset>());
        List<CommittedTransaction> own = [.. commits.Where(commit => commit.CommittedUtc >= startedUtc)];
        foreach (var effect in file.Effects.Where(effect => !effect.IsDeadLetter))
        {
            var moments = new Dictionary<Guid, DateTimeOffset>();
            foreach (var (text, moment) in effect is RowEffect row ? RowsOf(row, own) : seen[effect.Name].Select(one => (one.Text, one.Moment)))
            {
                foreach (var id in ProofAccount.IdsIn(text))
                    moments[id] = Later(moment, moments.GetValueOrDefault(id));
            }

            if (messages.FirstOrDefault(message => !moments.ContainsKey(message)) is var missing && missing != Guid.Empty)
            {
                throw new KitException(
                    $"{file.Path}: effect '{effect.Name}' of message {missing} is there, and since its start the service has committed no row with its id " +
                    "in a table that its statement names.",
                    "Let the statement name the table that the service writes, not a view, and let the row have the whole id. " +
                    "A deleted row has no moment.")
                { IsUsage = true };
            }

            foreach (var message in messages)
                all[message].Add(moments[message]);
        }

        return [.. all.Values.Select(each => new MessageMoments(each)).OrderBy(message => message.Done)];
    }

    /// <summary>The clock of a round: it starts at the first moment after the warm-up.</summary>
    /// <param name="moments">Ascending.</param>
    /// <returns>Milliseconds from the start to each later moment. What was committed together with the first is not in it.</returns>
    public static IReadOnlyList<double> OffsetsOf(IReadOnlyList<DateTimeOffset> moments, int warmUp)
    {
        var start = moments[warmUp];
        return [.. moments.Where(moment => moment > start).Select(moment => Math.Round((moment - start).TotalMilliseconds, 3))];
    }

    /// <summary>
    /// The largest number of messages, done from the start of the clock on, that have an effect at one moment: those of one commit, as a rule. A later effect
    /// does not hide that.
    /// </summary>
    /// <inheritdoc cref="OffsetsOf" path="/param"/>
    public static int MostAtOneMoment(IReadOnlyList<MessageMoments> moments, int warmUp) =>
        (from message in moments
         where message.Done >= moments[warmUp].Done
         from effect in message.Each.Index()
         group message by effect into same
         select same.Count()).Max();

    /// <summary>
    /// The reason why a batch was handled before the clock started, and counts after it; <see langword="null"/>: there is none. A service that commits or
    /// sends in bursts had done the work of the first burst when it began.
    /// </summary>
    /// <param name="offsets">As of <see cref="OffsetsOf"/>.</param>
    /// <param name="messages">Measured messages.</param>
    public static string? WhyInABurst(IReadOnlyList<double> offsets, int messages)
    {
        // The time in which 95 % came: a few that the service tried again after a pause do not make all others early.
        var most = offsets[offsets.Count * 95 / 100];
        var early = offsets.Count(offset => offset * 100 <= most);
        return early * TimesTheStart <= messages
            ? null
            : $"{Figures.Count(early, "message")} had their effects in the first 1 % of the time, more than 5 % of {Figures.Count(messages)}, " +
              $"as if their work was done before: give --messages at least {Figures.Plain(early * TimesTheStart)}, or let the service work in smaller batches";
    }

    /// <summary>
    /// The reason why the moments of a round are too coarse for a rate; <see langword="null"/>: they are not. Only the messages of the first commit are left
    /// out. If W workers commit in step, the W − 1 other first commits count, and their work was done before the clock started, so the rate is too high by
    /// the share of their messages. The kit does not know W. If a commit has 1 % of the messages, that is 3 % for four workers, and 9 % for ten.
    /// </summary>
    /// <param name="most">Messages with one moment.</param>
    /// <param name="messages">Measured messages.</param>
    public static string? WhyTooCoarse(int most, int messages) => most * TimesOneMoment <= messages
        ? null
        : $"{Figures.Count(most, "message")} had an effect at one moment, more than 1 % of {Figures.Count(messages)}: " +
          $"give --messages at least {Figures.Plain(most * TimesOneMoment)}, or let the service commit fewer at a time";

    private static IEnumerable<(string Text, DateTimeOffset Moment)> RowsOf(RowEffect row, IReadOnlyList<CommittedTransaction> commits) =>
        from commit in commits
        where commit.Database == row.Database
        from written in commit.Written
        where WrittenTables.Names(row.Sql, written.Table)
        select (written.Text, commit.CommittedUtc);

    private static DateTimeOffset Later(DateTimeOffset one, DateTimeOffset other) => one > other ? one : other;
}

/// <summary>The moments of a message's effects.</summary>
/// <param name="Each">In the order of the file's effects.</param>
internal sealed record MessageMoments(IReadOnlyList<DateTimeOffset> Each)
{
    public DateTimeOffset Done { get; } = Each.Max();
}
