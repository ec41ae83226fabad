using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.Modes;

/// <summary>What a cell was seen to do, and what its mode says.</summary>
public sealed class CellAgainstItsLabel
{
    private const int Concurrency = 2;

    private static IReadOnlyList<TransactionMode> Modes => TransactionMode.All;

    [TestCaseSource(nameof(Modes))]
    public void Agrees_where_it_does_what_the_mode_says(TransactionMode mode) => Assert.That(Disagreements(mode, AsItSays(mode)), Is.Empty);

    [TestCaseSource(nameof(Modes))]
    public void Handled_no_message(TransactionMode mode) =>
        Assert.That(Disagreements(mode, AsItSays(mode) with { Order = null }), Is.EqualTo(["no message was handled within 60 s"]));

    [TestCaseSource(nameof(Modes))]
    public void Commits_in_another_order(TransactionMode mode)
    {
        var seen = AsItSays(mode);
        var order = seen.Order!;
        var others = new List<CommitOrder>
        {
            order with { HasAmbientTransaction = !order.HasAmbientTransaction },
            order with { IsRowVisibleInHandler = !order.IsRowVisibleInHandler },
            order with { IsMessageLeftInHandler = !order.IsMessageLeftInHandler },
        };
        if (order.IsMessageLeftAfterCommit is { } left)
            others.AddRange([order with { IsMessageLeftAfterCommit = !left }, order with { IsMessageLeftAfterCommit = null }]);

        foreach (var other in others)
            Assert.That(Disagreements(mode, seen with { Order = other }), Has.Count.EqualTo(1), $"{other}");
        Assert.That(others.SelectMany(other => Disagreements(mode, seen with { Order = other })).Distinct().Count(), Is.GreaterThanOrEqualTo(3));
    }

    [TestCaseSource(nameof(Modes))]
    public void Has_another_isolation_level(TransactionMode mode)
    {
        var seen = AsItSays(mode);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                Disagreements(mode, seen with { Isolation = "serializable" }),
                Is.EqualTo([$"the handler's connection is 'serializable', not '{mode.IsolationInWords}'"]));
            Assert.That(
                Disagreements(mode, seen with { ScopeIsolation = "Serializable" }),
                Is.EqualTo([$"the ambient transaction is Serializable, not {mode.Isolation}"]));
        }
    }

    [TestCase(1)]
    [TestCase(3)]
    public void Runs_more_or_fewer_handlers_together(int together) => Assert.That(
        Disagreements(TransactionMode.DtcOff, AsItSays(TransactionMode.DtcOff) with { MostTogether = together }),
        Is.EqualTo([$"{together} handlers ran at the same time, not 2"]));

    private static ProbeResult AsItSays(TransactionMode mode) => new(
        mode.CommitOrder,
        mode.CommitOrder.HasAmbientTransaction ? mode.Isolation.ToString() : null,
        mode.IsolationInWords,
        Concurrency,
        BodyBytes: 100,
        Disagreements: []);

    private static List<string> Disagreements(TransactionMode mode, ProbeResult seen) =>
        [.. CellLabel.DisagreementsWith(mode, Concurrency, seen)];
}
