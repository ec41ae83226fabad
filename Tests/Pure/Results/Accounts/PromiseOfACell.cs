using Kit.Guarantees;
using Kit.Runner.Results.Accounts;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Tests.Results.Accounts;

/// <summary>What was found held against the classes that a cell allows.</summary>
public sealed class PromiseOfACell
{
    private static readonly Workload Workload = new(RowsPerAttempt: 1, Sends: true, ReceiveIsBranch: true);
    private static readonly History Clean = InventedHistory.Clean(3, Workload);

    /// <summary>Message 2 has two rows and nothing sent.</summary>
    private static readonly History DoubledAndUnsent = Clean.Attempted(2, 2, AttemptPoint.AfterFirstInsert).Row(2, 2).DropSink(2);

    [Test]
    public void Kept_when_every_message_is_of_an_allowed_class() =>
        Assert.That(Account.Of(Clean, Workload).ViolationsOf(Allowed(Once)), Is.Empty);

    [Test]
    public void Broken_by_a_message_of_another_class_which_is_shown_with_its_evidence()
    {
        var violation = Account.Of(Clean.DropRow(2), Workload).ViolationsOf(Allowed(Once, Duplicated)).Single();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(violation.MessageId, Is.EqualTo(InventedHistory.Message(2)));
            Assert.That(violation.Because, Is.EqualTo($"message {InventedHistory.Message(2)} is ghost; allowed: duplicated, once"));
            Assert.That(violation.Evidence, Has.Count.EqualTo(3).And.Some.StartWith("outgoing message"));
        }
    }

    [Test]
    public void Broken_by_what_an_allowed_class_would_hide()
    {
        var account = Account.Of(DoubledAndUnsent, Workload);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.ViolationsOf(Allowed(Once, Duplicated)).Single().Because, Does.Contain("is zombie; allowed"));
            Assert.That(account.ViolationsOf(Allowed(Once, Zombie)).Single().Because, Does.Contain("is duplicated; allowed"));
            Assert.That(account.ViolationsOf(Allowed(Once)).Single().Because, Does.Contain("is duplicated and zombie; allowed"));
            Assert.That(account.ViolationsOf(Allowed(Once, Duplicated, Zombie)), Is.Empty);
        }
    }

    [Test]
    public void Broken_by_a_prepared_transaction_of_no_message() =>
        Assert.That(
            Account.Of(Clean.LeftPrepared(77), Workload).ViolationsOf(Allowed(Once)).Single().Evidence,
            Is.EqualTo(new[] { "prepared: kit/7/16384/99, transaction 77" }));

    [Test]
    public void Kept_or_not_what_was_found_of_the_first_messages_of_each_other_class_is_told()
    {
        var history = InventedHistory.Clean(9, Workload).DropSink(2).DropSink(4).DropSink(6).Row(7, 1);

        var evidence = Account.Of(history, Workload).EvidenceOfOthers(perClass: 2);

        Assert.That(evidence.Where(line => !line.StartsWith("  ", StringComparison.Ordinal)), Is.EqualTo(new[]
        {
            $"message {InventedHistory.Message(7)} is duplicated:",
            $"message {InventedHistory.Message(2)} is zombie:",
            $"message {InventedHistory.Message(4)} is zombie:",
        }));
        Assert.That(evidence.Count(line => line.StartsWith("  row ", StringComparison.Ordinal)), Is.EqualTo(4));
    }

    [Test]
    public void Of_a_class_that_was_not_seen_there_is_an_upper_bound()
    {
        var account = Account.Of(InventedHistory.Clean(300, Workload).DropRow(7).Row(7, 1).Row(8, 1).DropSink(8), Workload);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(account.UpperBoundOf(Lost), Is.EqualTo(0.01));
            Assert.That(account.UpperBoundOf(Duplicated), Is.Null, "seen");
            Assert.That(account.UpperBoundOf(Zombie), Is.Null, "seen on a message of another class");
            Assert.That(account.AllOf(Zombie).Single().Class, Is.EqualTo(Duplicated));
            Assert.That(Account.Of(InventedHistory.Empty, Workload).UpperBoundOf(Lost), Is.Null, "no messages, no bound");
        }
    }

    [TestCase(1, 1)]
    [TestCase(3, 1)]
    [TestCase(4, 0.75)]
    [TestCase(2000, 0.0015)]
    public void Upper_bound_is_three_by_the_trials(int trials, double bound) => Assert.That(RuleOfThree.UpperBound(trials), Is.EqualTo(bound));

    [TestCase(30)]
    [TestCase(2000)]
    public void Upper_bound_leaves_a_chance_of_about_5_percent(int trials) =>
        Assert.That(Math.Pow(1 - RuleOfThree.UpperBound(trials), trials), Is.EqualTo(0.05).Within(0.01));

    [Test]
    public void No_trials_bound_nothing() => Assert.That(() => RuleOfThree.UpperBound(0), Throws.InstanceOf<ArgumentOutOfRangeException>());

    private static HashSet<DeliveryClass> Allowed(params DeliveryClass[] classes) => [.. classes];
}
