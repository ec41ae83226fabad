using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class DamagedRunFolder
{
    private const string RoundFile = "bare.postgresql.full-dtc.ado.round-1.attempt-1.json";

    private TemporaryFolder temporary = new();
    private RunFolder folder = null!;

    private string RunPath => temporary.Below("run", "run.json");

    private string RoundPath => temporary.Below("run", "rounds", RoundFile);

    [SetUp]
    public void Save()
    {
        temporary = new TemporaryFolder();
        var cell = InventedRun.Cell("full-dtc");
        folder = RunFolder.Create(
            temporary.Below("run"),
            InventedRun.Document with { Cells = [cell], Settings = InventedRun.Document.Settings with { Rounds = 1 } });
        folder.Save(InventedRun.Rounds[0]);
    }

    [TearDown]
    public void Discard() => temporary.Dispose();

    [Test]
    public void Folder_without_a_run_says_which_file_is_missing() =>
        Assert.That(() => RunFolder.Open(temporary.Below("nothing")), Throws.TypeOf<KitException>().With.Message.Contains("run.json is missing"));

    [Test]
    public void Missing_round_of_a_complete_run_is_named()
    {
        File.Delete(RoundPath);

        AssertRefused(RoundFile, "missing");
    }

    [TestCase("", "damaged")]
    [TestCase("{", "damaged")]
    [TestCase("null", "schema none")]
    [TestCase("{}", "schema none")]
    [TestCase("{\"schema\": 1}", "damaged")]
    [TestCase("{\"schema\": 2}", "schema 2, and this kit reads schema 1")]
    public void Damaged_round_is_named(string text, string expected)
    {
        File.WriteAllText(RoundPath, text);

        AssertRefused(RoundFile, expected);
    }

    [TestCase("[1, 2", "damaged")]
    [TestCase("{\"schema\": 1, \"commandLine\": null}", "damaged")]
    [TestCase("{\"schema\": 7}", "schema 7, and this kit reads schema 1")]
    public void Damaged_run_is_named(string text, string expected)
    {
        File.WriteAllText(RunPath, text);

        AssertRefused("run.json", expected);
    }

    [Test]
    public void Round_cut_off_in_the_middle_is_named()
    {
        var text = File.ReadAllText(RoundPath);
        File.WriteAllText(RoundPath, text[..(text.Length / 2)]);

        AssertRefused(RoundFile, "damaged");
    }

    [TestCase("[2, 1]", "ascending")]
    [TestCase("[-1]", "ascending")]
    [TestCase("[null]", "damaged")]
    [TestCase("null", "damaged")]
    public void Impossible_offsets_are_named(string offsets, string expected)
    {
        folder.Save(InventedRun.Rounds[0] with { OffsetsMilliseconds = [12.5] });
        File.WriteAllText(RoundPath, File.ReadAllText(RoundPath).Replace("[12.5]", offsets, StringComparison.Ordinal));

        AssertRefused(RoundFile, expected);
    }

    [Test]
    public void Round_in_the_file_of_another_is_refused()
    {
        File.Move(RoundPath, temporary.Below("run", "rounds", "other.json"));

        AssertRefused("other.json", $"it holds the round that belongs in {RoundFile}");
    }

    [Test]
    public void What_was_left_half_written_is_not_read()
    {
        File.WriteAllText(RoundPath + ".partial", "{\"sche");

        Assert.That(folder.Load().Rounds, Has.Count.EqualTo(1));
    }

    private void AssertRefused(string file, string because) =>
        Assert.That(
            () => RunFolder.Open(folder.Location).Load(),
            Throws.TypeOf<KitException>().With.Message.Contains(file).And.Message.Contains(because).And.Property(nameof(KitException.Remedy)).Not.Empty);
}
