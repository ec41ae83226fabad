using Kit.Guarantees;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;

namespace Kit.Tests.Results.Proofs;

/// <summary>What people and build servers read about a proof.</summary>
public sealed class ReportOfAProof
{
    private static readonly CrashPoint Commit = new(
        1, new RequestId("orders", "COMMIT", "COMMIT", 1, 1), "INSERT INTO a|b", HasAnswer: true, CanBeProved: true);

    private static readonly ProofDocument Document = new()
    {
        Name = "orders",
        StartedUtc = new DateTimeOffset(2026, 11, 24, 12, 0, 0, TimeSpan.Zero),
        ProofFile = "{}",
        Promised = [DeliveryClass.Duplicated, DeliveryClass.Once],
        Servers = new Dictionary<string, string> { ["postgresql"] = "15.18" },
        Points = [Commit],
        Results =
        [
            Result(PointWay.Killed, FaultVerdict.Broken, DeliveryClass.Lost) with
            {
                Violations = ["the message is lost (row: 0 of 1)"],
                Found = [new FoundEffect("row", 0, 1), new FoundEffect("mail", 1, 1)],
                Timeline =
                [
                    new TimelineStep(TimelineKind.Message, "a message is sent: 01a20da4"),
                    new TimelineStep(TimelineKind.LeftOut, "… 3 requests"),
                    new TimelineStep(TimelineKind.Request, "INSERT INTO a<b \u0001") { Number = 4, Server = "stock", Connection = 7, Outcome = "INSERT 0 1" },
                    new TimelineStep(TimelineKind.Request, "basic.ack") { Number = 5, Server = "rabbitmq", Connection = 1 },
                    new TimelineStep(TimelineKind.Request, "BEGIN") { Number = 6, Server = "orders", Connection = 2, Outcome = "BEGIN" },
                    new TimelineStep(TimelineKind.Request, "COMMIT") { Number = 7, Server = "orders", Connection = 3, Outcome = "COMMIT" },
                    new TimelineStep(TimelineKind.Moment, "the last request was executed, and the process is killed"),
                    new TimelineStep(TimelineKind.Process, "the process ended with exit code 137"),
                    new TimelineStep(TimelineKind.Restart, "the process is started again"),
                    new TimelineStep(TimelineKind.Ordinary, "ordinary messages are sent after it, and are: once"),
                    new TimelineStep(TimelineKind.Output, "the application wrote: \u0001 & so on"),
                    new TimelineStep(TimelineKind.Left, "left when nothing moved any more: queue 'orders': 1"),
                    new TimelineStep(TimelineKind.Committed, "committed together in orders: public.handled: INSERT: id[uuid]:'01a20da4'"),
                    new TimelineStep(TimelineKind.Found, "found of the message: row: 0 of 1, mail: 1 of 1"),
                    new TimelineStep(TimelineKind.Class, "it is lost"),
                ],
            },
            Result(PointWay.NeverSent, FaultVerdict.Kept, DeliveryClass.Once),
            Result(PointWay.Cut, FaultVerdict.Void, kind: null) with { Because = "it did not come to the point", Discarded = ["it was late", "it was early"] },
        ],
        NotTried = ["orders@1:d"],
        NotTriedBecause = "the budget was used up",
        Polls = ["SELECT 1 (orders)"],
        Rare = ["UPDATE stock (orders)"],
        Late = ["UPDATE report (orders)"],
        Unread = ["UPDATE stock (orders)"],
    };

    [Test]
    public void Shows_the_classes_a_timeline_and_what_was_not_tried()
    {
        using var output = new StringWriter { NewLine = "\n" };

        new ProofReport(Document).WriteMarkdown(output);

        Approval.Verify("proof.md", output.ToString());
    }

    [Test]
    public void Draws_a_timeline()
    {
        using var output = new StringWriter { NewLine = "\n" };

        new TimelinePicture(Document.Results[0], Document.Points).Write(output);

        Approval.Verify("violation.svg", output.ToString());
        Assert.That(() => System.Xml.Linq.XDocument.Parse(output.ToString()), Throws.Nothing);
    }

    /// <summary>Two transactions of one server overlap, a third one is rolled back, a broker's requests take effect alone, and an end is no commit.</summary>
    [Test]
    public void Draws_what_commits_together_and_what_a_kill_does()
    {
        var document = Document with
        {
            Points =
            [
                .. new (string Server, string Text, string? Outcome, int First)[]
                {
                    ("orders", "BEGIN", "BEGIN", 1), ("orders", "DELETE FROM job WHERE id = $1", "DELETE 1", 1), ("orders", "begin", "BEGIN", 3),
                    ("orders", "INSERT INTO invoice (job_id) VALUES ($1)", "INSERT 0 1", 3),
                    ("orders", "WITH paid AS (UPDATE account SET sum = ?) INSERT INTO line VALUES ($1, $2)", "INSERT 0 1", 3),
                    ("orders", "commit", "COMMIT", 3), ("rabbitmq", "basic.publish <shipments> to a key that is longer than its lane", null, 7),
                    ("orders", "COMMIT", "COMMIT", 1), ("orders", "BEGIN", "BEGIN", 9), ("orders", "SELECT total FROM invoice", "SELECT 1", 9),
                    ("orders", "ROLLBACK", "ROLLBACK", 9), ("orders", "PREPARE TRANSACTION '?'", "PREPARE TRANSACTION", 12),
                    ("orders", "terminate", null, 13),
                }.Index().Select(one => new CrashPoint(
                    one.Index + 1, new RequestId(one.Item.Server, one.Item.Text, one.Item.Outcome, 1, 1), Before: null, HasAnswer: true, CanBeProved: true)
                {
                    Leading = one.Item.First == one.Index + 1 ? [] : [one.Item.First],
                }),
            ],
            Results =
            [
                Kill(1, PointWay.NeverSent, FaultVerdict.Kept, DeliveryClass.Once), Kill(5, PointWay.Killed, FaultVerdict.Kept, DeliveryClass.Once),
                Kill(6, PointWay.NeverSent, FaultVerdict.Broken, DeliveryClass.Lost), Kill(6, PointWay.Killed, FaultVerdict.Kept, DeliveryClass.Duplicated),
                Kill(7, PointWay.Killed, FaultVerdict.Broken, DeliveryClass.Once), Kill(8, PointWay.Killed, FaultVerdict.Void, kind: null),
                Kill(9, PointWay.Killed, FaultVerdict.Broken, DeliveryClass.Lost) with { IsWithoutFault = true },
                Kill(10, PointWay.Cut, FaultVerdict.Broken, DeliveryClass.Lost), Kill(12, PointWay.Killed, FaultVerdict.Kept, DeliveryClass.Once),
            ],
        };
        using var output = new StringWriter { NewLine = "\n" };

        HandlingDrawing.Of(document)!.Write(output);

        Approval.Verify("handling-of-a-service.svg", output.ToString());
        Assert.That(HandlingDrawing.Of(document)!.Words, Does.StartWith(
            "orders commits INSERT invoice and UPDATE account + INSERT line together, then "
            + "basic.publish <shipments> to a key that is longer than its lane, then DELETE job. "
            + "Killed from 1 BEGIN to 5 UPDATE account + INSERT line: not tried; from 5 UPDATE account + INSERT line to 6 commit: ≠ lost; "));
        Assert.That(HandlingDrawing.Of(document with { Points = [] }), Is.Null);

        static ProofResult Kill(int point, PointWay way, FaultVerdict verdict, DeliveryClass? kind) =>
            Result(way, verdict, kind) with { Point = new PointFacts($"orders@{point}:{way.Facts().Letter}", point, way, "killed") };
    }

    [TestCase(PointWay.NeverSent)]
    [TestCase(PointWay.Cut)]
    [TestCase(PointWay.Unanswered)]
    public void Draws_each_way_with_a_request_that_does_not_arrive(PointWay way)
    {
        using var output = new StringWriter { NewLine = "\n" };
        var lost = Document.Results[0];

        new TimelinePicture(lost with { Point = lost.Point with { Way = way } }, Document.Points).Write(output);

        Assert.That(output.ToString(), Does.Contain("class=\"fault\"").And.Contain("class=\"kill\"").And.Contain("COMMIT"));
    }

    [Test]
    public void One_violation_of_each_class_is_told_a_kill_first()
    {
        var lost = Document.Results[0];
        var torn = lost with { Class = DeliveryClass.Torn };
        var several = Document with
        {
            Results =
            [
                lost with { Point = lost.Point with { Way = PointWay.NeverSent } }, lost, torn,
                lost with { Class = DeliveryClass.Once, Violations = ["an ordinary message after it is lost"] },
                lost with { IsWithoutFault = true },
            ],
        };

        Assert.That(ToldViolation.Of(several).Select(told => told.Name), Is.EquivalentTo(["lost", "torn", "afterwards", "without-crash"]));
        Assert.That(ToldViolation.Of(several).Single(told => told.Name == "lost").Result.Point.Way, Is.EqualTo(PointWay.Killed));
    }

    /// <summary>A message that was given up would be called once or lost.</summary>
    [Test]
    public void Says_which_dead_letter_has_no_place()
    {
        var (lost, kept, notMet) = (Document.Results[0], Document.Results[1], Document.Results[2]);
        using var output = new StringWriter();

        new ProofReport(Document with { Results = [lost with { Absent = ["error", "late"] }, kept with { Absent = ["error"] }, notMet] }).WriteMarkdown(output);

        Assert.That(output.ToString(), Does.Contain("; the place of dead letter 'error' was never there: check its name.")
            .And.Contain("- Whether a message was given up into error: "));
        Assert.That(new ProofReport(Document with { Results = [lost with { Absent = ["error"] }, kept] }).Summary, Does.Not.Contain("dead letter"));
    }

    [Test]
    public void Says_that_some_messages_came_in_a_transaction_that_was_open() => Assert.That(
        new ProofReport(Document with { Unused = 2 }).Summary,
        Does.Contain("; 2 recorded messages came in the open transaction of a poll, where no crash is tried."));

    /// <summary>A repetition that ends well is no reason to forget what happened.</summary>
    [Test]
    public void What_was_broken_once_stays_broken()
    {
        var (lost, kept, notMet) = (Document.Results[0], Document.Results[1], Document.Results[2]);

        var repeated = notMet.After(kept.After(lost));

        Assert.That((repeated.Verdict, repeated.Violations), Is.EqualTo((FaultVerdict.Broken, lost.Violations)));
        Assert.That(repeated.Repeated, Is.EqualTo(["once", "Void: it did not come to the point"]));
        Assert.That(lost.After(repeated).Repeated, Is.EqualTo(repeated.Repeated));
        Assert.That((lost.After(kept), kept.After(notMet), kept.After(null)), Is.EqualTo((lost, kept, kept)));
        using var output = new StringWriter();
        new ProofReport(Document with { Results = [repeated] }).WriteMarkdown(output);
        Assert.That(output.ToString(), Does.Contain("the message is lost (row: 0 of 1). Repeated: once; Void: it did not come to the point"));
    }

    [Test]
    public void Says_that_the_promise_was_kept_where_it_was()
    {
        var kept = Document with { Results = [Document.Results[1]], NotTried = [], NotTriedBecause = null, Rare = [], Late = [] };

        Assert.That(
            new ProofReport(kept).Summary,
            Is.EqualTo("orders kept its promise (once or duplicated) at the only crash that was met: 1 point of its handling, 5 experiments, 1 once."));
    }

    /// <summary>What is judged then is what b is judged by: the process was killed while it had no answer.</summary>
    [Test]
    public void Says_where_a_process_that_waited_for_its_answer_was_killed()
    {
        var waited = Document with { Results = [Result(PointWay.Unanswered, FaultVerdict.Kept, DeliveryClass.Once) with { KilledAfterSeconds = 12.4 }] };
        using var output = new StringWriter { NewLine = "\n" };

        new ProofReport(waited).WriteMarkdown(output);

        Assert.That(new ProofReport(waited).Summary, Does.Contain("1 once; at 1 of way d it did not get over the missing answer and was killed"));
        Assert.That(output.ToString(), Does.Contain("- orders@1:d: after 12 s.").And.Contain("| once, killed |"));
        Assert.That(new ProofReport(Document).Summary, Does.Not.Contain("was killed"));
    }

    [Test]
    public void Says_what_was_broken_without_any_crash_and_what_was_not_tried()
    {
        var (lost, kept) = (Document.Results[0], Document.Results[1]);
        var without = lost with { IsWithoutFault = true };

        Assert.That(With(without, kept), Does.StartWith("orders breaks its promise (exactly-once) without any crash 1 time: "));
        Assert.That(
            With(without, lost, kept),
            Does.StartWith("orders breaks its promise (exactly-once) at 1 of 2 crashes that were met, and without any crash 1 time: "));
        Assert.That(
            With(lost with { Point = lost.Point with { IsElsewhere = true } }, without, kept),
            Does.StartWith("orders breaks its promise (exactly-once) without any crash 1 time, and after a crash at another moment 1 time: "));
        Assert.That(With(kept), Does.StartWith("orders kept its promise (exactly-once) where it was tried, at 1 crash that was met: "));

        Assert.That(
            new ProofReport(Document with { Promised = [DeliveryClass.Once], Results = [kept], Untried = ["INSERT INTO stock (orders)"] }).Summary,
            Does.StartWith(
                "orders is not proved: it kept its promise (exactly-once) at 1 crash that was met, and none could be tried at what writes an effect: "));

        static string With(params ProofResult[] results) =>
            new ProofReport(Document with { Promised = [DeliveryClass.Once], Results = results }).Summary;
    }

    [Test]
    public void JUnit_has_a_case_for_each_experiment()
    {
        using var output = new StringWriter { NewLine = "\n" };

        ProofJUnit.Write(Document, output);

        Approval.Verify("proof.xml", output.ToString());
    }

    [Test]
    public void A_folder_gives_back_what_it_was_given()
    {
        using var folder = new TemporaryFolder();
        var proofs = new ProofFolder(folder.Path);

        proofs.Save(Document);

        Assert.That(proofs.Exists, Is.True);
        Assert.That(new ProofReport(proofs.LoadDocument()).Summary, Is.EqualTo(new ProofReport(Document).Summary));
        Assert.That(proofs.ReportPath, Does.Exist);
        Assert.That(proofs.LoadDocument().Results[0].Timeline, Is.EqualTo(Document.Results[0].Timeline));
        Assert.That(Directory.GetFiles(folder.Path, "*.svg").Select(Path.GetFileName), Is.EquivalentTo([HandlingDrawing.File, "violation-lost.svg"]));
    }

    [Test]
    public void A_picture_of_what_no_longer_happens_is_removed()
    {
        using var folder = new TemporaryFolder();
        var proofs = new ProofFolder(folder.Path);
        proofs.Save(Document);

        proofs.Save(Document with { Results = [Document.Results[1]] });

        Assert.That(Directory.GetFiles(folder.Path, "*.svg").Select(Path.GetFileName), Is.EqualTo([HandlingDrawing.File]));
    }

    private static ProofResult Result(PointWay way, FaultVerdict verdict, DeliveryClass? kind) => new()
    {
        Point = new PointFacts($"orders@1:{way.Facts().Letter}", 1, way, "COMMIT (orders)"),
        Verdict = verdict,
        Class = kind,
        Seconds = 1.5,
    };
}
