using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;
using Kit.Runner.Html;
using Kit.Runner.Results;

namespace Kit.Tests.Html;

/// <summary>The published run says the same in its page, in results.json, and in its tables and CSV.</summary>
public sealed class NumbersOfThePage
{
    private const long MostBytes = 2_000_000;

    [Test]
    public void Fit_in_a_file_of_two_megabytes() => Assert.That(new FileInfo(PublishedPage.File).Length, Is.LessThanOrEqualTo(MostBytes));

    [Test]
    public async Task Are_those_of_the_tables_the_csv_and_the_json()
    {
        var tables = await File.ReadAllTextAsync(PublishedPage.In($"{PublishedPage.Run}/tables.md"));
        var csv = await AveragesInTheCsvAsync();
        using var json = JsonDocument.Parse(await File.ReadAllTextAsync(PublishedPage.Json));
        var page = await File.ReadAllTextAsync(PublishedPage.File);
        foreach (var row in json.RootElement.GetProperty("rows").EnumerateArray())
        {
            var id = row.GetProperty("id").GetString()!;
            var cell = PublishedPage.Recorded.Cells.Single(cell => cell.Cell.FileName == id);
            var speed = row.GetProperty("speed");
            var (mean, low, high) = (TextIn(speed, "mean"), TextIn(speed, "low"), TextIn(speed, "high"));
            using (Assert.EnterMultipleScope())
            {
                Assert.That(Figures.Measured(csv[id].Average()), Is.EqualTo(mean), id);
                var ratio = speed.GetProperty("toStrictest").GetString()!;
                var beforeVariation = Regex.Escape($"| {cell.Cell} | 5 of 5 | {mean} | {low} to {high} | ");
                Assert.That(tables, Does.Match($"{beforeVariation}[0-9.]+ % {Regex.Escape($"| {ratio} |")}"), id);
                Assert.That(page, Does.Contain($"href=\"#rounds-{id}\">{mean}</a><small>{low} to {high}</small>"), id);
            }
        }
    }

    [Test]
    public async Task Of_the_storms_are_those_of_the_guarantees()
    {
        var guarantees = (await File.ReadAllTextAsync(PublishedPage.In($"{PublishedPage.Run}/guarantees.md"))).Split('\n');
        foreach (var row in PublishedPage.View.Rows)
        {
            var storm = row.Storms[0];
            var begin = $"| {row.Cell["framework"]} | {row.Cell["transport"]} | {row.Mode} |";
            var line = guarantees.First(line => line.StartsWith(begin, StringComparison.Ordinal));
            var once = int.Parse(line.Split('|')[5].Trim(), NumberStyles.AllowThousands, CultureInfo.InvariantCulture);

            Assert.That(storm.Messages - storm.NotOnce, Is.EqualTo(once), row.Id);
            Assert.That(storm.Evidence.ToString(), Does.StartWith("2026-11-23-29fde72/faults.jsonl:"));
        }
    }

    [Test]
    public async Task Name_the_line_on_which_each_of_them_stands()
    {
        var rounds = await File.ReadAllLinesAsync(PublishedPage.In($"{PublishedPage.Run}/rounds.jsonl"));
        var faults = await File.ReadAllLinesAsync(PublishedPage.In($"{PublishedPage.Run}/faults.jsonl"));
        foreach (var row in PublishedPage.View.Rows)
        {
            foreach (var round in row.Rounds)
            {
                using var line = JsonDocument.Parse(rounds[round.Evidence.Line - 1]);
                Assert.That(line.RootElement.GetProperty("round").GetInt32(), Is.EqualTo(round.Round), row.Id);
                Assert.That(line.RootElement.GetProperty("cell").GetProperty("mode").GetString(), Is.EqualTo(row.Mode), row.Id);
            }

            using var storm = JsonDocument.Parse(faults[row.Storms[0].Evidence.Line - 1]);
            Assert.That(storm.RootElement.GetProperty("fault").GetString(), Is.EqualTo("storm"), row.Id);
            Assert.That(storm.RootElement.GetProperty("cell").GetProperty("mode").GetString(), Is.EqualTo(row.Mode), row.Id);
        }
    }

    [Test]
    public void Answer_three_questions_first() => Assert.That(
        PublishedPage.View.Answers.Select(answer => answer.Text),
        Is.EqualTo(new[]
        {
            "On bare/postgresql/ado, full-dtc handles 1,006 messages a second (911 to 1,112), which is 0.595 times the rate without transactions " +
            "(1,689; 95 % interval of the ratio: 0.526 to 0.674).",
            "On bare/postgresql/ado, in a storm of 5 kills and 5 cuts over 2,000 messages, these were not handled exactly once: in dtc-off 9 " +
            "doubled; in scope-off 10 doubled, 4 torn; in transactions-off 4 lost, 2 zombie, 10 torn, 2 error; in full-dtc 0 in 1,000 kills.",
            "Take shared: 2,103 messages a second (1,922 to 2,300) on bare/postgresql/ado, and in a storm 0 of 2,000 messages not exactly once (with " +
            "95 % confidence, fewer than 30 % of such kills and cuts do it).",
        }));

    [Test]
    public async Task Have_their_badges()
    {
        var badge = await File.ReadAllTextAsync(Path.Combine(PublishedPage.Badges, "bare.postgresql.full-dtc.ado.svg"));

        Assert.That(Directory.GetFiles(PublishedPage.Badges), Has.Length.EqualTo(21));
        Assert.That(badge, Does.StartWith("<svg").And.Contain("full-dtc on bare/postgresql: exactly once through 1,000 kills, commit 29fde72"));
    }

    [Test]
    public void Can_mislead_as_the_documentation_says() =>
        Assert.That(Misleading.Text, Does.Contain("<strong>SIGKILL is not a power failure.</strong>").And.Not.Contain("href"));

    private static string TextIn(JsonElement speed, string what) => speed.GetProperty(what).GetProperty("text").GetString()!;

    private static async Task<ILookup<string, double>> AveragesInTheCsvAsync()
    {
        var lines = (await File.ReadAllLinesAsync(PublishedPage.In($"{PublishedPage.Run}/rounds.csv"))).Select(line => line.Split(',')).ToList();
        var (counts, average) = (Array.IndexOf(lines[0], "counts"), Array.IndexOf(lines[0], "average_per_second"));
        var axes = lines[0].TakeWhile(name => name != "round").Index().Where(axis => axis.Item is not "condition").ToList();
        return lines.Skip(1).Where(line => line[counts] == "yes").ToLookup(
            line => string.Join('.', axes.Select(axis => line[axis.Index]).Where(value => value != "insert")),
            line => double.Parse(line[average], CultureInfo.InvariantCulture));
    }
}
