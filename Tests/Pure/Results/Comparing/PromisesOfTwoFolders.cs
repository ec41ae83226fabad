using Kit.Guarantees;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Comparing;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Comparing;

public sealed class PromisesOfTwoFolders
{
    private static readonly FaultResult Kept = new()
    {
        Cell = InventedRun.Cell("full-dtc"),
        Fault = Fault.KillBeforeCommit.Name,
        Verdict = FaultVerdict.Kept,
        Promised = [DeliveryClass.Once],
    };

    private static readonly FaultResult Broken = Kept with
    {
        Verdict = FaultVerdict.Broken,
        Violations = [new Violation(Guid.Empty, "message 1 is lost; allowed: once", [])],
    };

    private static readonly FaultResult Known = Broken with { Violations = [Broken.Violations[0] with { Known = "the driver does less" }] };
    private static readonly FaultResult Void = Kept with { Verdict = FaultVerdict.Void };
    private static readonly FaultResult NoWindow = Kept with { Verdict = FaultVerdict.NoWindow, Promised = [] };
    private static readonly FaultResult Weaker = Kept with { Promised = [DeliveryClass.Once, DeliveryClass.Duplicated] };

    private static readonly TestCaseData[] Changes =
    [
        Change(Kept, Kept, null),
        Change(Kept, Broken, PromiseChange.Broken),
        Change(Known, Broken, PromiseChange.Broken),
        Change(NoWindow, Broken, PromiseChange.Broken),
        Change(Broken, Broken, null),
        Change(Kept, Known, PromiseChange.BrokenForAKnownReason),
        Change(Known, Known, null),
        Change(Broken, Known, null),
        Change(Kept, Void, PromiseChange.NotShown),
        Change(Kept, Kept with { Verdict = FaultVerdict.Failed }, PromiseChange.NotShown),
        Change(Void, Void, null),
        Change(Broken, Kept, PromiseChange.Mended),
        Change(Void, Kept, PromiseChange.Mended),
        Change(NoWindow, Kept, PromiseChange.PromisedDifferently),
        Change(Kept, NoWindow, PromiseChange.PromisedDifferently),
        Change(Kept, Weaker, PromiseChange.PromisedDifferently),
    ];

    [TestCaseSource(nameof(Changes))]
    public void Each_change_has_its_name(object before, object after, object? expected)
    {
        var promises = Compare([(FaultResult)before], [(FaultResult)after]);

        Assert.That(promises.Changes.Select(change => (object)change.Change), Is.EqualTo(expected is null ? [] : new[] { expected }));
        Assert.That(promises.HasRegression, Is.EqualTo(expected is PromiseChange.Broken));
        Assert.That(promises.IsIncomplete, Is.EqualTo(expected is PromiseChange.NotShown));
    }

    [Test]
    public void Experiments_of_one_side_alone_are_listed_and_no_regression()
    {
        var other = Broken with { Fault = Fault.Poison.Name };

        var promises = Compare([Kept], [other]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(promises.OnlyBefore, Is.EqualTo(new[] { Kept.Name }));
            Assert.That(promises.OnlyAfter, Is.EqualTo(new[] { other.Name }));
            Assert.That(promises.Compared, Is.Zero);
            Assert.That(promises.HasRegression, Is.False);
        }
    }

    private static TestCaseData Change(FaultResult before, FaultResult after, PromiseChange? expected) =>
        new TestCaseData(before, after, expected).SetArgDisplayNames(NameOf(before), NameOf(after), $"{expected}");

    private static string NameOf(FaultResult result) =>
        $"{result.Verdict}{(result.Known is null ? "" : " known")}, promised {result.Promised.Count}";

    private static ComparedPromises Compare(IReadOnlyList<FaultResult> before, IReadOnlyList<FaultResult> after) =>
        new((InventedExperiments.Document, before), (InventedExperiments.Document, after));
}
