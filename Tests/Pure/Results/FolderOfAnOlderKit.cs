using System.Globalization;
using System.Text.Json;
using System.Text.Json.Nodes;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results;

/// <summary>A folder of schema 1, with a document for each round and each experiment, and what becomes of it.</summary>
public sealed class FolderOfAnOlderKit
{
    private TemporaryFolder temporary = null!;

    private string Folder => temporary.Below("run");

    [SetUp]
    public void MakeFolder()
    {
        temporary = new TemporaryFolder();
        Directory.CreateDirectory(Folder);
    }

    [TearDown]
    public void RemoveFolder() => temporary.Dispose();

    [Test]
    public void Gives_the_same_reports_from_the_files_of_today()
    {
        SaveRun(InventedRun.Recorded);
        SaveExperiments();

        new OldFolder(Folder).Convert();

        var now = ResultFolder.Load(Folder);
        now.WriteReports();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(new OldFolder(Folder).IsThere, Is.False);
            Assert.That(Directory.GetFileSystemEntries(Folder).Select(Path.GetFileName), Is.EquivalentTo([.. RunFolder.Files, .. FaultFolder.Files]));
            Assert.That(Csv(now.Run!), Is.EqualTo(Csv(InventedRun.Recorded)));
            Assert.That(
                now.Reports.Single(report => report.Name == "guarantees.csv").Text,
                Is.EqualTo(Text(new GuaranteeReport(InventedExperiments.Document, InventedExperiments.Results).WriteCsv)));
        }
    }

    [Test]
    public void Is_not_touched_where_a_round_is_damaged()
    {
        SaveRun(InventedRun.Recorded);
        var round = Directory.GetFiles(Path.Combine(Folder, "rounds"))[3];
        File.WriteAllText(round, File.ReadAllText(round)[..200]);
        var before = Directory.GetFileSystemEntries(Folder, "*", SearchOption.AllDirectories).Order().ToList();

        Assert.That(new OldFolder(Folder).Convert, Throws.TypeOf<KitException>().With.Message.Contains(round));
        Assert.That(Directory.GetFileSystemEntries(Folder, "*", SearchOption.AllDirectories).Order(), Is.EqualTo(before));
    }

    [Test]
    public void Keeps_its_files_where_a_round_is_missing()
    {
        SaveRun(InventedRun.Recorded);
        File.Delete(Directory.GetFiles(Path.Combine(Folder, "rounds")).Order(StringComparer.Ordinal).First());

        // A second attempt finds a document that is converted, and still the files below it.
        for (var attempt = 0; attempt < 2; attempt++)
        {
            Assert.That(new OldFolder(Folder).Convert, Throws.TypeOf<KitException>().With.Message.Contains("has no line for"));
            Assert.That(Directory.Exists(Path.Combine(Folder, "rounds")));
        }
    }

    [Test]
    public void Is_converted_to_the_end_where_a_first_attempt_was_stopped()
    {
        SaveRun(InventedRun.Recorded);
        new OldFolder(Folder).Convert();
        Directory.CreateDirectory(Path.Combine(Folder, "rounds"));
        File.WriteAllText(Path.Combine(Folder, "rounds", "left.json"), "{}");

        Assert.That(new OldFolder(Folder).IsThere);
        new OldFolder(Folder).Convert();

        Assert.That(Directory.Exists(Path.Combine(Folder, "rounds")), Is.False);
        Assert.That(RunFolder.Open(Folder).Load().Rounds, Has.Count.EqualTo(InventedRun.Rounds.Count));
    }

    [Test]
    public void One_of_today_is_none()
    {
        RunFolder.Create(Folder, InventedRun.Document);
        new FaultFolder(Folder).Save(InventedExperiments.Document);

        Assert.That(new OldFolder(Folder).IsThere, Is.False);
        Assert.That(new OldFolder(temporary.Below("nothing")).IsThere, Is.False);
    }

    private void SaveRun(RecordedRun run)
    {
        Save("run.json", run.Document);
        Directory.CreateDirectory(Path.Combine(Folder, "graphs"));
        foreach (var round in run.Rounds)
        {
            var document = Save($"rounds/{round.GraphId}.json", round);
            document["offsetsMilliseconds"] = JsonNode.Parse(
                $"[{string.Join(", ", round.OffsetsMilliseconds.Select(offset => offset.ToString("0.###", CultureInfo.InvariantCulture)))}]");
            File.WriteAllText(Path.Combine(Folder, "rounds", $"{round.GraphId}.json"), document.ToJsonString());
        }
    }

    private void SaveExperiments()
    {
        Save("faults.json", InventedExperiments.Document);
        foreach (var result in InventedExperiments.Results)
            Save($"faults/{result.Name}.json", result);
    }

    private JsonObject Save<T>(string file, T content)
    {
        var document = JsonSerializer.SerializeToNode(content, ResultJson.Options)!.AsObject();
        document["schema"] = 1;
        var path = Path.Combine(Folder, file);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, document.ToJsonString());
        return document;
    }

    private static string Csv(RecordedRun run) => Text(output => RoundsCsv.Write(run, output));

    private static string Text(Action<TextWriter> write)
    {
        using var output = new StringWriter { NewLine = "\n" };
        write(output);
        return output.ToString();
    }
}
