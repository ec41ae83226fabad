using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>What stands above the figures of a run that is less, or more, than the one of every day.</summary>
public sealed class HeadOfAReport
{
    private static readonly RunDocument Document = InventedRun.Document;
    private static readonly Dictionary<string, string> Facts = new() { ["version"] = "16.0", ["edition"] = "Developer" };

    [Test]
    public void Of_a_run_that_goes_on_knows_no_end()
    {
        var facts = Of(Document with { EndedUtc = null, Ending = RunEnding.Running, SeedingSeconds = null });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(facts["Time"], Is.EqualTo("2026-03-01 12:00:00 UTC to –"));
            Assert.That(facts["Ending"], Is.EqualTo("not ended: the run goes on, or its process died"));
            Assert.That(facts["Seeding"], Is.EqualTo("–"));
            Assert.That(facts["Clock"], Is.EqualTo("–"), "no round, no clock");
        }
    }

    [TestCase("synchronous_commit")]
    [TestCase("fsync")]
    [TestCase("full_page_writes")]
    public void Of_a_run_that_did_not_wait_for_the_disk_says_so(string setting)
    {
        var server = Document.Server!.ToDictionary();
        Assert.That(ReportText.WarningOf(Document), Is.Null);
        server[setting] = "off";

        Assert.That(ReportText.WarningOf(Document with { Server = server }), Does.StartWith($"Not durable: the server's sessions had {setting} off, "));
    }

    [Test]
    public void Of_another_build_names_it()
    {
        Assert.That(Of(Document), Does.Not.ContainKey("Build"));
        Assert.That(
            Of(Document with { Build = new BuildFacts("/kit/after", "1.2", "abc") })["Build"], Is.EqualTo("/kit/after, version 1.2, fingerprint abc"));
    }

    [Test]
    public void Of_a_clean_commit_is_its_id_alone()
    {
        Assert.That(Of(Document with { Commit = Document.Commit! with { Dirty = false } })["Commit"], Is.EqualTo(Document.Commit!.Id));
        Assert.That(Of(Document with { Commit = null })["Commit"], Is.EqualTo("unknown"));
    }

    [Test]
    public void Names_the_servers_that_were_used_and_no_other()
    {
        var other = Of(Document with
        {
            Broker = new Dictionary<string, string>(),
            SqlServer = Facts,
            Servers = new Dictionary<string, IReadOnlyDictionary<string, string>> { ["Kafka"] = Facts },
        });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(other, Does.Not.ContainKey("Broker"));
            Assert.That(other["SQL Server"], Is.EqualTo("edition Developer, version 16.0"), "by name");
            Assert.That(other["Kafka"], Is.EqualTo("edition Developer, version 16.0"));
            Assert.That(Of(Document), Does.ContainKey("Broker").And.Not.ContainKey("SQL Server").And.Not.ContainKey("Kafka"));
        }
    }

    [Test]
    public void Of_a_quick_run_warns()
    {
        const string Warning = "; quick: shows that it works, not how fast it is";

        Assert.That(Of(Document)["Settings"], Does.Not.Contain(Warning));
        Assert.That(Of(Document with { Settings = Document.Settings with { Quick = true } })["Settings"], Does.EndWith(Warning));
    }

    [Test]
    public void Says_what_the_clock_left_out()
    {
        var round = InventedRun.Rounds[0] with { Clock = ClockSource.HandlerCompletions };

        Assert.That(
            RunFacts.Of(new RecordedRun(Document, [round, InventedRun.Rounds[1]])).Single(fact => fact.Name == "Clock").Fact,
            Is.EqualTo(
                "first handler entry to last commit, by the database's commit timestamps; " +
                "first handler entry to last handler completion: the figures do not include the commit after it"));
    }

    private static Dictionary<string, string> Of(RunDocument document) =>
        RunFacts.Of(new RecordedRun(document, [])).ToDictionary(fact => fact.Name, fact => fact.Fact);
}
