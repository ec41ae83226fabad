using Kit.Guarantees;
using Kit.Modes;
using static Kit.Guarantees.Situation;

namespace Kit.Tests.Results.Guarantees;

/// <summary>What the contract tests expect of every framework and transport, for a mode of each kind.</summary>
public sealed class MessageWithoutACrash
{
    [TestCase(HandlerSucceeds, 1, 1, 0, 1)]
    [TestCase(ThrowsOnceBeforeInsert, 1, 1, 0, 2)]
    [TestCase(ThrowsOnceAfterInsert, 1, 1, 0, 2)]
    [TestCase(ThrowsOnceAfterSend, 1, 1, 0, 2)]
    [TestCase(AlwaysThrowsAfterInsert, 0, 0, 1, 3)]
    [TestCase(CommitIsAlwaysRefused, 0, 0, 1, 3)]
    [TestCase(Unreadable, 0, 0, 1, 0)]
    [TestCase(OfUnknownType, 0, 0, 1, 0)]
    public void Leaves_nothing_of_a_failed_attempt_where_the_rows_are_rolled_back(Situation situation, int rows, int sent, int errors, int attempts)
    {
        foreach (var mode in TransactionMode.All.Except([TransactionMode.ScopeOff, TransactionMode.TransactionsOff]))
            Assert.That(Expectation.Of(mode, situation), Is.EqualTo(new Expectation(rows, sent, errors, attempts)), mode.Name);
    }

    [TestCase(HandlerSucceeds, 1, 1, 0, 1)]
    [TestCase(ThrowsOnceBeforeInsert, 1, 1, 0, 2)]
    [TestCase(ThrowsOnceAfterInsert, 2, 1, 0, 2)]
    [TestCase(ThrowsOnceAfterSend, 2, 1, 0, 2)]
    [TestCase(AlwaysThrowsAfterInsert, 3, 0, 1, 3)]
    [TestCase(CommitIsAlwaysRefused, 0, 0, 1, 3)]
    [TestCase(Unreadable, 0, 0, 1, 0)]
    [TestCase(OfUnknownType, 0, 0, 1, 0)]
    public void Leaves_a_row_of_each_attempt_in_scope_off(Situation situation, int rows, int sent, int errors, int attempts) =>
        Assert.That(Expectation.Of(TransactionMode.ScopeOff, situation), Is.EqualTo(new Expectation(rows, sent, errors, attempts)));

    [TestCase(HandlerSucceeds, 1, 1, 0, 1)]
    [TestCase(ThrowsOnceBeforeInsert, 0, 0, 1, 1)]
    [TestCase(ThrowsOnceAfterInsert, 1, 0, 1, 1)]
    [TestCase(ThrowsOnceAfterSend, 1, 1, 1, 1)]
    [TestCase(AlwaysThrowsAfterInsert, 1, 0, 1, 1)]
    [TestCase(CommitIsAlwaysRefused, 0, 0, 1, 1)]
    [TestCase(Unreadable, 0, 0, 1, 0)]
    [TestCase(OfUnknownType, 0, 0, 1, 0)]
    public void Has_one_attempt_in_transactions_off_which_leaves_what_it_did(Situation situation, int rows, int sent, int errors, int attempts) =>
        Assert.That(Expectation.Of(TransactionMode.TransactionsOff, situation), Is.EqualTo(new Expectation(rows, sent, errors, attempts)));

    [Test]
    public void Is_in_no_situation_that_nobody_described() => Assert.That(
        () => Expectation.Of(TransactionMode.DtcOff, (Situation)99),
        Throws.TypeOf<ArgumentOutOfRangeException>().With.Property(nameof(ArgumentOutOfRangeException.ActualValue)).EqualTo((Situation)99));
}
