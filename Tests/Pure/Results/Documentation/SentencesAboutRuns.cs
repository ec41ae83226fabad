using System.Text.RegularExpressions;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;

namespace Kit.Tests.Results.Documentation;

/// <summary>Sentences about a run that people wrote, with a link to its folder: their numbers are those of the run.</summary>
public sealed partial class SentencesAboutRuns
{
    private const string Level = "95";

    [TestCase("README.md", "results/2026-11-23-29fde72-kills")]
    [TestCase("docs/guides/nservicebus.md", "results/2026-11-24-de6d9ee-nservicebus-kills")]
    public void Kills_harmed_no_message(string page, string folder)
    {
        var result = ResultsIn(folder).Single();
        var storm = result.Storm!;

        Assert.That(GuaranteeTables.NotOnceOf(result), Is.EqualTo("0"));
        Assert.That(storm.Cuts, Is.Zero);
        Assert.That(
            NumbersIn(page, folder),
            Is.Not.Empty.And.SubsetOf(new[]
            {
                Figures.Count(storm.Kills), Figures.Count(storm.Windows!.Met), Figures.Count(result.Messages),
                Figures.ShareAtMost(storm.UpperBound!.Value).TrimEnd(' ', '%'), Level,
            }));
    }

    [Test]
    public void Crashes_of_the_broker_had_all_messages_handled_again()
    {
        const string folder = "results/2026-11-23-29fde72";
        Fault[] crashes = [Fault.RestartBroker, Fault.RestartBrokerHalfway, Fault.RestartBrokerLate];
        var results = ResultsIn(folder);
        List<FaultResult> after = [.. crashes.Select(crash => Of("dtc-off", crash))];

        Assert.That(crashes.Select(crash => DoubledIn(Of("outbox", crash))), Is.All.Zero);
        Assert.That(after.Select(result => result.HandledAgain!.Again), Is.EqualTo(after.Select(result => result.HandledAgain!.Returned)));
        Assert.That(
            NumbersIn("docs/reference/findings.md", folder),
            Is.EqualTo(
                new[] { 5, 90, after[0].Messages }.Concat(after.Select(result => result.HandledAgain!.Again)).Concat(after.Select(DoubledIn))
                    .Select(number => Figures.Count(number))));

        FaultResult Of(string mode, Fault crash) =>
            results.Single(result => $"{result.Cell}" == $"bare/rabbitmq/{mode}/ado" && result.Fault == crash.Name);
    }

    [TestCase("results/2026-11-24-de6d9ee-nservicebus", "NServiceBus, `outbox`", "nservicebus", "outbox")]
    [TestCase("results/2026-11-23-29fde72", "NServiceBus, `dtc-off` and `scope-off`", "nservicebus", "dtc-off", "scope-off")]
    [TestCase("results/2026-11-23-29fde72", "MassTransit, `dtc-off` and `scope-off`", "masstransit", "dtc-off", "scope-off")]
    [TestCase("results/2026-11-23-29fde72", "MassTransit, `transactions-off`", "masstransit", "transactions-off")]
    [TestCase("results/2026-11-23-29fde72", "bare, `transactions-off`", "bare", "transactions-off")]
    public void Outages_of_the_database_had_so_many_messages_given_up(string folder, string row, string framework, params string[] modes)
    {
        var results = ResultsIn(folder);
        var cells = File.ReadLines(Path.Combine(RepositoryFiles.Root, "docs/guides/operating.md"))
            .Single(line => line.StartsWith($"| {row} | ", StringComparison.Ordinal) && NumbersOf(line).Any())
            .Split('|', StringSplitOptions.TrimEntries);

        Assert.That(cells[2], Does.StartWith(GivenUp(Fault.DatabaseAway)));
        Assert.That(cells[3], Does.StartWith(GivenUp(Fault.RestartDatabase)));

        string GivenUp(Fault fault) => string.Join(
            " and ",
            from mode in modes
            let result = results.Single(one => $"{one.Cell}" == $"{framework}/rabbitmq/{mode}/ado" && one.Fault == fault.Name)
            select Figures.Count(result.Messages - result.Counts[DeliveryClass.Once]));
    }

    private static int DoubledIn(FaultResult result) => result.Counts[DeliveryClass.Duplicated];

    private static IReadOnlyList<FaultResult> ResultsIn(string folder) => new FaultFolder(Path.Combine(RepositoryFiles.Root, folder)).LoadResults();

    private static IEnumerable<string> NumbersIn(string page, string folder)
    {
        var text = File.ReadAllText(Path.Combine(RepositoryFiles.Root, page));
        var generated = Page.Parse(page, text).Blocks.SelectMany(block => block.Lines);
        var sentence = text.ReplaceLineEndings("\n").Split('\n').Except(generated, StringComparer.Ordinal)
            .Single(line => line.Contains($"{folder}/guarantees.md)", StringComparison.Ordinal));
        return NumbersOf(LinkTarget().Replace(sentence, "]"));
    }

    private static IEnumerable<string> NumbersOf(string text) => Number().Matches(text).Select(match => match.Value);

    [GeneratedRegex(@"\]\([^)]*\)", RegexOptions.None, matchTimeoutMilliseconds: 1_000)]
    private static partial Regex LinkTarget();

    [GeneratedRegex(@"\d+([,.]\d+)*", RegexOptions.ExplicitCapture, matchTimeoutMilliseconds: 1_000)]
    private static partial Regex Number();
}
