using Kit.Guarantees;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Results.Faults;

/// <summary>Experiments at the points of a handling, as the report shows them and the folder keeps them.</summary>
public sealed class PointsOfAHandling
{
    private static readonly CrashPoint Commit =
        new(1, new RequestId("data", "COMMIT", "COMMIT", 1, 1), "INSERT INTO widget", HasAnswer: true, CanBeProved: true);

    private static readonly CrashPoint Acknowledgement =
        new(2, new RequestId("broker", "basic.ack", Outcome: null, 1, 1), Before: null, HasAnswer: false, CanBeProved: true);

    private static readonly CrashPoint Terminate =
        new(3, new RequestId("data", "terminate", Outcome: null, 1, 1), Before: null, HasAnswer: false, CanBeProved: false);

    private static readonly FaultDocument Document = InventedExperiments.Document with
    {
        LeftOut = [],
        Points = new Dictionary<string, IReadOnlyList<CrashPoint>> { [$"{InventedRun.Cell("dtc-off")}"] = [Commit, Acknowledgement, Terminate] },
    };

    [Test]
    public void Are_counted_by_way_with_the_exceptions_below()
    {
        var text = Written(
            Met(1, PointWay.NeverSent), Met(1, PointWay.Killed, DeliveryClass.Duplicated),
            Met(1, PointWay.Cut, DeliveryClass.Duplicated), Met(1, PointWay.Unanswered, DeliveryClass.Lost) with { Verdict = FaultVerdict.Broken },
            Met(2, PointWay.NeverSent), Met(2, PointWay.Killed) with { Verdict = FaultVerdict.Void, Because = "this handling did not come to the point" });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(text, Does.Contain("| 3 | 8 | 5 | 2 once | 1 VOID, 1 duplicated | 1 duplicated | 1 ≠ lost |"));
            Assert.That(text, Does.Contain("- bare/postgresql/dtc-off/ado: 3 points, 8 experiments, 5 met: 2 duplicated, 2 once, 1 VOID, 1 ≠ lost; " +
                "not determined after 1 requests, because nothing shows whether the server has acted"));
            Assert.That(text, Does.Contain("- bare.postgresql.dtc-off@1:Killed: the moment of 1: duplicated\n"));
            Assert.That(text, Does.Contain("- bare.postgresql.dtc-off@1:Unanswered: the moment of 1: lost, which is not promised\n"));
            Assert.That(text, Does.Contain("- bare.postgresql.dtc-off@2:Killed: this handling did not come to the point\n"));
            Assert.That(text, Does.Not.Contain("promise and observation"));
        }
    }

    [Test]
    public void Are_not_met_by_a_kill_at_another_moment()
    {
        var elsewhere = Met(1, PointWay.NeverSent, DeliveryClass.Lost) with { Verdict = FaultVerdict.Broken };
        using var temporary = new TemporaryFolder();
        var folder = new FaultFolder(temporary.Path);
        folder.Save(elsewhere with { Point = elsewhere.Point! with { IsElsewhere = true } });

        var text = Written([.. folder.LoadResults()]);

        Assert.That(text, Does.Contain("| 3 | 8 | 0 | 1 ≠ lost |"));
        Assert.That(text, Does.Not.Contain("Points at which the message"));
    }

    [Test]
    public void Have_two_more_columns_where_the_server_crashed()
    {
        var crashes = Document.With([PointWay.ServerCrashedBefore, PointWay.ServerCrashedAfter]);
        var text = Written(crashes, Met(1, PointWay.ServerCrashedBefore), Met(1, PointWay.ServerCrashedAfter, DeliveryClass.Duplicated));

        Assert.That(text, Does.Contain("| d: never answered | e: never sent, server crashed | f: executed, server crashed |"));
        Assert.That(text, Does.Contain("| 3 | 13 | 2 | – | – | – | – | 1 once | 1 duplicated |"));
        Assert.That(text, Does.Contain("In these ways all processes of the server are killed"));
    }

    [Test]
    public void Have_only_the_columns_of_the_ways_that_were_asked_for()
    {
        var crashes = (Document with { Points = null }).With([PointWay.ServerCrashedBefore]) with { Points = Document.Points };
        var text = Written(crashes, Met(1, PointWay.ServerCrashedBefore));

        Assert.That(text, Does.Contain("| 3 | 3 | 1 | 1 once |"));
        Assert.That(text, Does.Not.Contain("A point is met").And.Not.Contain("f: executed"));
    }

    [Test]
    public void Keep_their_ways_in_the_folder_also_those_by_default()
    {
        using var temporary = new TemporaryFolder();
        var folder = new FaultFolder(temporary.Path);
        folder.Save((Document with { Points = null }).With(PointWays.OfClient));

        Assert.That(folder.LoadDocument().Ways, Is.EqualTo(PointWays.OfClient));
    }

    [Test]
    public void Can_be_met_in_every_way_that_has_a_name()
    {
        Assert.That(PointWays.All.Select(facts => facts.Way), Is.EqualTo(Enum.GetValues<PointWay>()));
        Assert.That(string.Concat(PointWays.Letters), Is.EqualTo("abcdefg"));
        Assert.That(PointWays.All.Select(facts => facts.Rank), Is.Unique);
        Assert.That(PointWays.Letters.Select(letter => PointWays.Of(letter)), Is.EqualTo(Enum.GetValues<PointWay>()));
        Assert.That(PointWays.Of("h"), Is.Null);
        Assert.That(() => ((PointWay)99).Facts(), Throws.TypeOf<ArgumentOutOfRangeException>());
    }

    [Test]
    public void Come_back_from_their_folder_as_they_were_saved()
    {
        using var temporary = new TemporaryFolder();
        var folder = new FaultFolder(temporary.Path);
        var met = Met(1, PointWay.Killed, DeliveryClass.Duplicated);
        folder.Save(Document);
        folder.Save(met);

        var read = folder.LoadResults().Single();
        Assert.That((read.Point, read.Name, read.IsSingleFault), Is.EqualTo((met.Point, "bare.postgresql.dtc-off@1:Killed", false)));
        Assert.That(folder.LoadDocument().Points!.Values.Single(), Is.EqualTo(Document.Points!.Values.Single()).UsingPropertiesComparer());
    }

    private static string Written(params FaultResult[] results) => Written(Document, results);

    private static string Written(FaultDocument document, params FaultResult[] results)
    {
        using var output = new StringWriter { NewLine = "\n" };
        new GuaranteeReport(document, results).WriteMarkdown(output);
        return output.ToString();
    }

    private static FaultResult Met(int point, PointWay way, DeliveryClass found = DeliveryClass.Once) => new()
    {
        Cell = InventedRun.Cell("dtc-off"),
        Fault = $"@{point}:{way}",
        Verdict = FaultVerdict.Kept,
        Promised = [DeliveryClass.Duplicated, DeliveryClass.Once],
        Observed = [new Observation(found, 1)],
        Counts = new Dictionary<DeliveryClass, int> { [found] = 1 },
        Point = new PointFacts($"bare.postgresql.dtc-off@{point}:{way}", point, way, $"the moment of {point}"),
    };
}
