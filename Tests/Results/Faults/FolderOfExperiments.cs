using Kit.Runner.Results;
using Kit.Runner.Results.Faults;

namespace Kit.Tests.Results.Faults;

/// <summary>The results of experiments as they lie in their folder.</summary>
public sealed class FolderOfExperiments
{
    private static readonly GuaranteeReport Report = new(InventedExperiments.Document, InventedExperiments.Results);

    [Test]
    public void Is_made_again_from_the_folder()
    {
        using var temporary = new TemporaryFolder();
        var folder = new FaultFolder(temporary.Path);
        folder.Save(InventedExperiments.Document);
        foreach (var result in InventedExperiments.Results)
            folder.Save(result);

        var read = new GuaranteeReport(folder.LoadDocument(), folder.LoadResults());

        Assert.That(Text(read.WriteMarkdown), Is.EqualTo(Text(Report.WriteMarkdown)));
    }

    [TestCase("{ no JSON")]
    [TestCase("{}")]
    [TestCase("")]
    public void Damaged_results_are_named(string content)
    {
        using var temporary = new TemporaryFolder();
        var folder = new FaultFolder(temporary.Path);
        folder.Save(InventedExperiments.Results[0]);
        var path = Directory.GetFiles(Path.Combine(temporary.Path, "faults")).Single();
        File.WriteAllText(path, content);

        Assert.That(folder.LoadResults, Throws.TypeOf<KitException>().With.Message.Contains(path));
    }

    private static string Text(Action<TextWriter> write)
    {
        using var output = new StringWriter { NewLine = "\n" };
        write(output);
        return output.ToString().ReplaceLineEndings("\n");
    }
}
