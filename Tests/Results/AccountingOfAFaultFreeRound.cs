using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>A clean round, and mutations that each move one message from its class to another.</summary>
public sealed class AccountingOfAFaultFreeRound
{
    private const int Seeded = 1_000;

    private static readonly Guid Victim = Id(3);
    private static readonly Guid Stranger = Id(999);

    private static Evidence Clean => new()
    {
        Messages = Ids(1, 10),
        WarmUp = Ids(101, 5),
        RowsByMessage = Ids(1, 10).Concat(Ids(101, 5)).ToDictionary(id => id, _ => 1),
        ErrorQueue = [],
        Queue = [],
        PreparedTransactions = 0,
        SeedRows = Seeded,
        TableRows = Seeded + 15,
    };

    private static IEnumerable<TestCaseData> Mutations()
    {
        yield return Mutation("A dropped row", evidence => WithRows(evidence, Victim, 0), MessageClass.Lost);
        yield return Mutation("A doubled row", evidence => WithRows(evidence, Victim, 2), MessageClass.Duplicated);
        yield return Mutation("A row and an error", evidence => evidence with { ErrorQueue = [Victim] }, MessageClass.Error);
        yield return Mutation("An error and no row", evidence => WithRows(evidence, Victim, 0) with { ErrorQueue = [Victim] }, MessageClass.Error);
        yield return Mutation("A row, and still queued", evidence => evidence with { Queue = [Victim] }, MessageClass.Stuck);
        yield return Mutation("No row, still queued", evidence => WithRows(evidence, Victim, 0) with { Queue = [Victim] }, MessageClass.Stuck);
        yield return Mutation("Two rows, and still queued", evidence => WithRows(evidence, Victim, 2) with { Queue = [Victim] }, MessageClass.Duplicated);
        yield return Mutation("Two rows and an error", evidence => WithRows(evidence, Victim, 2) with { ErrorQueue = [Victim] }, MessageClass.Duplicated);
        yield return Mutation("In both queues", evidence => evidence with { ErrorQueue = [Victim], Queue = [Victim] }, MessageClass.Error);
        yield return Mutation("In the error queue twice", evidence => evidence with { ErrorQueue = [Victim, Victim] }, MessageClass.Error);
    }

    [Test]
    public void Clean_round_is_valid_with_every_message_handled_once()
    {
        var accounting = Accounting.Of(Clean);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(accounting.Outcome.IsValid(), Is.True);
            Assert.That(accounting.Counts[MessageClass.Once], Is.EqualTo(10));
            Assert.That(accounting.Counts.Values.Sum(), Is.EqualTo(10));
            Assert.That(accounting.Counts.Keys, Is.EquivalentTo(Enum.GetValues<MessageClass>()));
        }
    }

    [TestCaseSource(nameof(Mutations))]
    public void Mutation_moves_exactly_one_message(Func<Evidence, Evidence> mutate, MessageClass to)
    {
        var accounting = Accounting.Of(mutate(Clean));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(accounting.Counts[MessageClass.Once], Is.EqualTo(9));
            Assert.That(accounting.Counts[to], Is.EqualTo(1));
            Assert.That(accounting.Counts.Values.Sum(), Is.EqualTo(10), "the classes partition the messages");
            Assert.That(accounting.Outcome.Verdict, Is.EqualTo(Verdict.Invalid));
            Assert.That(accounting.Problems[0], Does.Contain(Victim.ToString()));
        }
    }

    [Test]
    public void Row_of_a_stranger_is_unexpected_and_takes_no_message_away() =>
        AssertUnexpected(WithRows(Clean, Stranger, 1));

    [Test]
    public void Error_of_a_stranger_is_unexpected() => AssertUnexpected(Clean with { ErrorQueue = [Stranger] });

    [Test]
    public void Queued_stranger_is_unexpected() => AssertUnexpected(Clean with { Queue = [Stranger] });

    [Test]
    public void Stranger_found_everywhere_is_one_stranger() =>
        AssertUnexpected(WithRows(Clean, Stranger, 2) with { ErrorQueue = [Stranger], Queue = [Stranger] });

    [Test]
    public void Dropped_row_of_the_warm_up_makes_the_round_invalid_and_moves_no_message()
    {
        var accounting = Accounting.Of(WithRows(Clean, Id(102), 0));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(accounting.Counts[MessageClass.Once], Is.EqualTo(10));
            Assert.That(accounting.Problems[0], Does.StartWith("messages of the warm-up lost: 1"));
        }
    }

    [Test]
    public void Prepared_transaction_left_makes_the_round_invalid() =>
        Assert.That(Accounting.Of(Clean with { PreparedTransactions = 2 }).Problems, Is.EqualTo(new[] { "prepared transactions left: 2" }));

    [TestCase(-1)]
    [TestCase(1)]
    public void Row_count_that_is_off_makes_the_round_invalid(int rows) =>
        Assert.That(
            Accounting.Of(Clean with { TableRows = Clean.TableRows + rows }).Problems.Single(),
            Does.EndWith("1,015 expected (1,000 seeded, 5 by the warm-up, 10 by the round)"));

    [Test]
    public void Many_lost_messages_are_counted_and_three_are_named()
    {
        var accounting = Accounting.Of(Clean with { RowsByMessage = new Dictionary<Guid, int>(), WarmUp = Ids(0, 0), TableRows = Seeded });

        Assert.That(accounting.Problems[0], Is.EqualTo($"messages lost: 10 ({Id(1)}, {Id(2)}, {Id(3)}, …)"));
    }

    [Test]
    public void No_messages_are_accounted_for() =>
        Assert.That(
            Accounting.Of(Clean with { Messages = Ids(0, 0), WarmUp = Ids(0, 0), RowsByMessage = new Dictionary<Guid, int>(), TableRows = Seeded })
                .Outcome.IsValid(),
            Is.True);

    private static void AssertUnexpected(Evidence evidence)
    {
        var accounting = Accounting.Of(evidence);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(accounting.Counts[MessageClass.Once], Is.EqualTo(10));
            Assert.That(accounting.Counts[MessageClass.Unexpected], Is.EqualTo(1));
            Assert.That(accounting.Counts.Values.Sum(), Is.EqualTo(11));
            Assert.That(accounting.Outcome.Verdict, Is.EqualTo(Verdict.Invalid));
        }
    }

    private static TestCaseData Mutation(string name, Func<Evidence, Evidence> mutate, MessageClass to) =>
        new TestCaseData(mutate, to).SetArgDisplayNames(name, to.ToString());

    private static Evidence WithRows(Evidence evidence, Guid id, int rows)
    {
        var counts = new Dictionary<Guid, int>(evidence.RowsByMessage);
        var before = counts.GetValueOrDefault(id);
        counts.Remove(id);
        if (rows > 0)
            counts[id] = rows;
        return evidence with { RowsByMessage = counts, TableRows = evidence.TableRows + rows - before };
    }

    private static HashSet<Guid> Ids(int first, int count) => [.. Enumerable.Range(first, count).Select(Id)];

    private static Guid Id(int number) => new(number, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]);
}
