using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Tests.Results.Guarantees;

/// <summary>What a mode says of itself in one place, held against what it says in another, and against what is promised of it.</summary>
public sealed class ModesAgainstTheirPromises
{
    private static IReadOnlyList<TransactionMode> Modes => TransactionMode.All;

    [TestCaseSource(nameof(Modes))]
    public void A_crash_does_what_is_promised_at_worst(TransactionMode mode)
    {
        var always = FaultPromise.Always(mode, isBroker: false).Classes;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(always.Contains(DeliveryClass.Lost), Is.EqualTo(mode.CrashEffect is CrashEffect.Loses));
            Assert.That(always.Contains(DeliveryClass.Duplicated), Is.EqualTo(mode.CrashEffect is CrashEffect.Doubles));
            Assert.That(always.Contains(DeliveryClass.InDoubt), Is.EqualTo(mode.CrashEffect is CrashEffect.LeavesInDoubt));
            Assert.That(
                always.Contains(DeliveryClass.Torn),
                Is.EqualTo(mode.CrashEffect is CrashEffect.LeavesInDoubt || mode.RowCommit is RowCommit.EachStatement));
        }
    }

    [TestCaseSource(nameof(Modes))]
    public void A_row_is_seen_before_the_handler_returns_where_each_statement_commits_by_itself(TransactionMode mode)
    {
        var isByStatement = mode.RowCommit is RowCommit.EachStatement;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(mode.CommitOrder.IsRowVisibleInHandler, Is.EqualTo(isByStatement));
            Assert.That(mode.CommitOrder.IsMessageLeftAfterCommit is null, Is.EqualTo(isByStatement), "no transaction ends");
            Assert.That(mode.CommitOrder.HasAmbientTransaction && isByStatement, Is.False);
        }
    }

    [TestCaseSource(nameof(Modes))]
    public void A_message_is_lost_where_it_leaves_the_queue_before_the_handler_and_is_not_retried_there(TransactionMode mode)
    {
        var loses = mode.CrashEffect is CrashEffect.Loses;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(mode.CommitOrder.IsMessageLeftInHandler, Is.EqualTo(!loses));
            Assert.That(mode.Attempts, Is.EqualTo(loses ? 1 : 3));
        }
    }

    [Test]
    public void The_message_ends_with_the_rows_where_they_are_one_unit() => Assert.That(
        NamesOf(mode => mode.CommitOrder.IsMessageLeftAfterCommit is false),
        Is.EqualTo(["full-dtc", "full-dtc-waiting", "full-dtc-promoted", "npgsql-scope", "shared"]));

    [Test]
    public void The_handler_has_a_scope_where_the_kit_does_not_commit_for_it() => Assert.That(
        NamesOf(mode => mode.CommitOrder.HasAmbientTransaction),
        Is.EqualTo(["full-dtc", "dtc-off", "full-dtc-waiting", "full-dtc-promoted", "npgsql-scope"]));

    [Test]
    public void One_database_is_needed_where_one_connection_does_both()
    {
        Assert.That(NamesOf(mode => mode.NeedsOneDatabase), Is.EqualTo(["shared"]));
        Assert.That(NamesOf(mode => mode.RowCommit is RowCommit.WithReceive), Is.EqualTo(["shared"]));
    }

    [Test]
    public void A_failure_is_counted_late_where_only_the_driver_rolls_back() =>
        Assert.That(NamesOf(mode => mode.CountsAfterRollback), Is.EqualTo(["npgsql-scope"]));

    [Test]
    public void Rows_commit_in_two_phases_where_something_must_recover_them() => Assert.That(
        NamesOf(mode => mode.RowCommit is RowCommit.InTwoPhases), Is.EqualTo(["full-dtc", "full-dtc-waiting", "npgsql-scope"]));

    private static IEnumerable<string> NamesOf(Func<TransactionMode, bool> chosen) => Modes.Where(chosen).Select(mode => mode.Name);
}
