using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>What is left of a round where the process ended in the middle of its append: everything before it, and a sentence.</summary>
public sealed class ProcessThatDiedWhileItSaved
{
    private static readonly RoundDocument First = InventedRun.Rounds[0];
    private static readonly RoundDocument Second = InventedRun.Rounds[1];

    private TemporaryFolder temporary = null!;
    private RunFolder folder = null!;

    private string LinesPath => temporary.Below("run", "rounds.jsonl");

    private string MomentsPath => temporary.Below("run", "moments.bin");

    [SetUp]
    public void Save()
    {
        temporary = new TemporaryFolder();
        folder = RunFolder.Create(temporary.Below("run"), InventedRun.Document with { Ending = RunEnding.Running });
        folder.Save(First);
    }

    [TearDown]
    public void Discard() => temporary.Dispose();

    [Test]
    public void Wherever_it_was_cut_the_round_before_is_read_and_the_other_is_named()
    {
        var (lines, moments) = (new FileInfo(LinesPath).Length, new FileInfo(MomentsPath).Length);
        folder.Save(Second);
        var (allLines, allMoments) = (File.ReadAllBytes(LinesPath), File.ReadAllBytes(MomentsPath));

        for (var cut = (int)moments + 1; cut <= allMoments.Length; cut++)
            AssertLeftOut(allLines[..(int)lines], allMoments[..cut]);
        for (var cut = (int)lines + 1; cut < allLines.Length; cut++)
            AssertLeftOut(allLines[..cut], allMoments);
    }

    [Test]
    public void The_sentence_is_in_every_report()
    {
        File.AppendAllText(LinesPath, "{\"sche");
        var run = folder.Load();
        using var terminal = new StringWriter();

        folder.WriteReports(run);
        TerminalSummary.Write(run, terminal, width: 140);

        const string sentence = "- A round is left out: the process ended while saving it (rounds.jsonl: the last line has no end).";
        Assert.That(File.ReadAllText(folder.ReportPath), Does.Contain(sentence));
        Assert.That(terminal.ToString(), Does.Contain(sentence));
    }

    [Test]
    public void Two_rounds_without_a_line_are_more_than_one_process_leaves()
    {
        folder.Save(Second);
        folder.Save(InventedRun.Rounds[2]);
        File.WriteAllLines(LinesPath, [File.ReadLines(LinesPath).First()]);

        Assert.That(folder.Load, Throws.TypeOf<KitException>().With.Message.Contains("rounds.jsonl").And.Message.Contains("moments of 2 more rounds"));
    }

    [Test]
    public void What_is_not_written_whole_is_taken_back()
    {
        var before = File.ReadAllBytes(MomentsPath);

        Assert.That(
            () => AppendedFile.Append(MomentsPath, new byte[1], _ => throw new IOException("No space left on device")),
            Throws.TypeOf<KitException>().With.Message.Contains("No space left").And.Message.Contains("moments.bin"));
        Assert.That(File.ReadAllBytes(MomentsPath), Is.EqualTo(before));
    }

    private void AssertLeftOut(byte[] lines, byte[] moments)
    {
        File.WriteAllBytes(LinesPath, lines);
        File.WriteAllBytes(MomentsPath, moments);

        var run = folder.Load();

        Assert.That(run.Rounds.Single().Name, Is.EqualTo(First.Name));
        Assert.That(RoundNotes.Of(run)[0], Does.Contain("left out: the process ended while saving"));
    }
}
