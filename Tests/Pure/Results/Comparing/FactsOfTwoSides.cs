using Kit.Runner.Results;
using Kit.Runner.Results.Comparing;
using Kit.Runner.Results.Faults;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Comparing;

/// <summary>What is recorded next to the figures, and differs.</summary>
public sealed class FactsOfTwoSides
{
    private static readonly RunDocument Document = InventedRun.Document;
    private static readonly Dictionary<string, string> Version = new() { ["version"] = "1" };

    private static readonly TestCaseData[] Differences =
    [
        Differs(Document with { Commit = Document.Commit! with { Dirty = false } }, "commit", $"{Document.Commit!.Id} with changes", Document.Commit.Id),
        Differs(Document with { Build = new BuildFacts("/kit", "1.0", "abc") }, "build", "–", "1.0, fingerprint abc"),
        Differs(
            Document with { Host = Document.Host with { Cores = 3 } },
            "machine", "2 cores, Invented CPU @ 2.50GHz, 8.00 GiB", "3 cores, Invented CPU @ 2.50GHz, 8.00 GiB"),
        Differs(Document with { Host = Document.Host with { OperatingSystem = "Debian 13" } }, "system", "Debian GNU/Linux 12", "Debian 13"),
        Differs(Document with { Host = Document.Host with { Runtime = ".NET 11" } }, "runtime", ".NET 10.0.1", ".NET 11"),
        Differs(Document with { Broker = new Dictionary<string, string> { ["version"] = "4.1.0" } }, "RabbitMQ queues", "classic, durable", "–"),
        Differs(Document with { SqlServer = Version }, "SQL Server version", "–", "1"),
        Differs(Document with { Servers = new Dictionary<string, IReadOnlyDictionary<string, string>> { ["Kafka"] = Version } }, "Kafka version", "–", "1"),
        Differs(
            Document with { Packages = new Dictionary<string, string>(Document.Packages) { ["Npgsql"] = "11.0.0" } }, "package Npgsql", "10.0.0", "11.0.0"),
        Differs(Document with { Settings = Document.Settings with { Messages = 1_000 } }, "messages", "400", "1,000"),
        Differs(Document with { Settings = Document.Settings with { Rounds = 6 } }, "rounds", "5", "6"),
        Differs(Document with { Settings = Document.Settings with { Concurrency = 3 } }, "concurrency", "2", "3"),
        Differs(Document with { Settings = Document.Settings with { SeedRows = 1 } }, "rows seeded", "1,000,000", "1"),
        Differs(Document with { Settings = Document.Settings with { WarmUp = 1 } }, "warm-up messages", "1,000", "1"),
        Differs(Document with { Isolation = "serializable" }, "isolation", "read committed", "serializable"),
        Differs(
            Document with { ImmediateRetries = new Dictionary<string, int> { ["full-dtc"] = 3, ["transactions-off"] = 0 } },
            "immediate retries in full-dtc", "2", "3"),
        Differs(Document with { PoolSizes = new Dictionary<string, int> { ["queue"] = 5, ["widgets"] = 4 } }, "pool of queue", "4", "5"),
        Differs(Document with { Ending = RunEnding.Stopped("Ctrl+C") }, "ending", "completed", "stopped: Ctrl+C"),
    ];

    [TestCaseSource(nameof(Differences))]
    public void Are_named_with_both_values(object other, string what, string before, string after) => Assert.That(
        Difference.Between(new RecordedRun(Document, []), new RecordedRun((RunDocument)other, [])),
        Is.EqualTo([new Difference(what, before, after)]));

    [Test]
    public void Are_those_of_the_clock_of_the_rounds()
    {
        var rounds = InventedRun.Rounds;
        var byHandler = rounds.Select(round => round with { Clock = ClockSource.HandlerCompletions }).ToList();

        Assert.That(
            Difference.Between(new RecordedRun(Document, rounds), new RecordedRun(Document, [rounds[0], .. byHandler])),
            Is.EqualTo([new Difference("clock", "CommitTimestamps", "CommitTimestamps, HandlerCompletions")]));
    }

    [TestCase("commit", true)]
    [TestCase("build", true)]
    [TestCase("machine", false)]
    public void Are_of_the_build_where_they_say_which_it_was(string what, bool isOfTheBuild) =>
        Assert.That(new Difference(what, "a", "b").IsOfTheBuild, Is.EqualTo(isOfTheBuild));

    [Test]
    public void Of_experiments_are_commit_machine_servers_and_packages()
    {
        var document = InventedExperiments.Document;
        var other = document with
        {
            Commit = null,
            Host = document.Host with { Cores = 3, OperatingSystem = "Debian 13", Runtime = ".NET 11" },
            Servers = Version,
            Packages = Version,
        };

        Assert.That(Difference.Between(new GuaranteeReport(document, []), new GuaranteeReport(other, [])).Select(difference => difference.What), Is.EqualTo(
            ["commit", "machine", "system", "runtime", "server PostgreSQL", "package Npgsql", "package Dapper", "server version", "package version"]));
    }

    private static TestCaseData Differs(RunDocument other, string what, string before, string after) =>
        new TestCaseData(other, what, before, after).SetArgDisplayNames(what);
}
