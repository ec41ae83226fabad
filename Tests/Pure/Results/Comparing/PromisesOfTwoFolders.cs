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

    [Test]
    public void A_point_is_compared_with_the_same_request_and_not_with_the_same_number()
    {
        var (then, now) = (Handling("BEGIN", "INSERT", "COMMIT"), Handling("BEGIN", "INSERT", "SELECT", "COMMIT"));

        var promises = new ComparedPromises(
            new(then, [At(1, Kept), At(2, Kept), At(3, Broken)]), new(now, [At(1, Kept), At(2, Kept), At(3, Broken), At(4, Broken)]));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(promises.Compared, Is.EqualTo(3));
            Assert.That(promises.Changes, Is.Empty);
            Assert.That(promises.OnlyBefore, Is.Empty);
            Assert.That(promises.OnlyAfter, Is.EqualTo(new[] { At(3, Broken).Name }));
        }

        static FaultResult At(int number, FaultResult result) => result with
        {
            Fault = $"@{number}:b",
            Point = new PointFacts($"token@{number}:b", number, PointWay.Killed, "was executed"),
        };

        static FaultDocument Handling(params string[] statements) => InventedExperiments.Document with
        {
            Points = new Dictionary<string, IReadOnlyList<CrashPoint>>
            {
                [$"{Kept.Cell}"] =
                [
                    .. statements.Select((text, index) => new CrashPoint(
                        index + 1, new RequestId("queue", text, text, Sent: 1, Answered: 1), Before: null, HasAnswer: true, CanBeProved: true)),
                ],
            },
        };
    }

    [Test]
    public void Other_handlers_ways_and_storms_are_told()
    {
        static GuaranteeReport Storm(int kills, Func<FaultDocument, FaultDocument> change) => new(
            change(InventedExperiments.Document), [Kept with { Fault = StormFacts.Name, Storm = new StormFacts(Seed: kills, kills, Cuts: 0, InFlight: 9) }]);

        var differences = new ComparedPromises(
            Storm(5, document => document), Storm(1000, document => document with { Subscribers = 5, Ways = [PointWay.Killed, PointWay.Cut] })).Differences;

        Assert.That(differences.Select(difference => (difference.What, difference.Before, difference.After)), Is.EquivalentTo(new[]
        {
            ("handler", "writes two rows and sends one message", "writes two rows and publishes one event, to which 5 queues have subscribed"),
            ("ways at a point", "–", "b, c"),
            ("storms", "5 kills and 0 cuts of all connections", "1000 kills and 0 cuts of all connections"),
        }));
        Assert.That(new ComparedPromises(Storm(5, document => document), Storm(5, document => document)).Differences, Is.Empty);
    }

    private static TestCaseData Change(FaultResult before, FaultResult after, PromiseChange? expected) =>
        new TestCaseData(before, after, expected).SetArgDisplayNames(NameOf(before), NameOf(after), $"{expected}");

    private static string NameOf(FaultResult result) =>
        $"{result.Verdict}{(result.Known is null ? "" : " known")}, promised {result.Promised.Count}";

    private static ComparedPromises Compare(IReadOnlyList<FaultResult> before, IReadOnlyList<FaultResult> after) =>
        new(new(InventedExperiments.Document, before), new(InventedExperiments.Document, after));
}
