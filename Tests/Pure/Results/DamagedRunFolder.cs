using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>Two rounds as <c>run</c> leaves them, and then something happens to a file.</summary>
public sealed class DamagedRunFolder
{
    private static readonly RoundDocument First = InventedRun.Rounds[0];
    private static readonly RoundDocument Second = InventedRun.Rounds[1];

    private TemporaryFolder temporary = new();
    private RunFolder folder = null!;

    private string RunPath => temporary.Below("run", "run.json");

    private string LinesPath => temporary.Below("run", "rounds.jsonl");

    private string MomentsPath => temporary.Below("run", "moments.bin");

    [SetUp]
    public void Save()
    {
        temporary = new TemporaryFolder();
        folder = RunFolder.Create(
            temporary.Below("run"),
            InventedRun.Document with { Cells = [First.Cell], Settings = InventedRun.Document.Settings with { Rounds = 2 } });
        folder.Save(First);
        folder.Save(Second);
    }

    [TearDown]
    public void Discard() => temporary.Dispose();

    [Test]
    public void Folder_without_a_run_says_which_file_is_missing() =>
        Assert.That(() => RunFolder.Open(temporary.Below("nothing")), Throws.TypeOf<KitException>().With.Message.Contains("run.json is missing"));

    [Test]
    public void Missing_round_of_a_complete_run_is_named()
    {
        File.WriteAllLines(LinesPath, File.ReadLines(LinesPath).Take(1).ToList());

        AssertRefused("rounds.jsonl", "has no line for bare/postgresql/full-dtc/ado, round 2");
    }

    [TestCase("", "damaged")]
    [TestCase("{", "damaged")]
    [TestCase("null", "schema none")]
    [TestCase("{}", "schema none")]
    [TestCase("{\"schema\": 2}", "damaged")]
    [TestCase("{\"schema\": 3}", "schema 3, and this kit reads schema 2")]
    public void Damaged_round_is_named_with_its_line(string text, string expected)
    {
        File.WriteAllLines(LinesPath, [text, File.ReadLines(LinesPath).Last()]);

        AssertRefused("rounds.jsonl, line 1", expected);
    }

    [Test]
    public void Round_of_an_older_kit_says_what_reads_it()
    {
        File.WriteAllText(LinesPath, File.ReadAllText(LinesPath).Replace("\"schema\":2", "\"schema\":1", StringComparison.Ordinal));

        Assert.That(
            folder.Load,
            Throws.TypeOf<KitException>().With.Property(nameof(KitException.Remedy)).EqualTo("Use the build of the kit that wrote it."));
    }

    [TestCase("[1, 2", "damaged")]
    [TestCase("{\"schema\": 2, \"commandLine\": null}", "damaged")]
    [TestCase("{\"schema\": 7}", "schema 7, and this kit reads schema 2")]
    public void Damaged_run_is_named(string text, string expected)
    {
        File.WriteAllText(RunPath, text);

        AssertRefused("run.json", expected);
    }

    [Test]
    public void Round_that_is_there_twice_is_refused()
    {
        folder.Save(Second);

        AssertRefused("rounds.jsonl", "bare/postgresql/full-dtc/ado, round 2 appears in it twice");
    }

    [Test]
    public void Every_byte_of_the_moments_counts()
    {
        var whole = File.ReadAllBytes(MomentsPath);
        for (var at = 0; at < whole.Length; at++)
        {
            var damaged = whole.ToArray();
            damaged[at] ^= 0x20;
            File.WriteAllBytes(MomentsPath, damaged);

            AssertRefused("moments.bin", "damaged");
        }
    }

    [Test]
    public void Moments_in_another_order_are_refused()
    {
        File.WriteAllBytes(MomentsPath, [.. MomentBlock.Of(Second).ToBytes(), .. MomentBlock.Of(First).ToBytes()]);

        AssertRefused("moments.bin", "it has moments of bare/postgresql/full-dtc/ado, round 2 where");
    }

    [Test]
    public void Moments_of_another_version_are_refused_with_their_place()
    {
        var bytes = File.ReadAllBytes(MomentsPath);
        bytes[4] = 2;
        File.WriteAllBytes(MomentsPath, bytes);

        AssertRefused("moments.bin", "at byte 0 the block is of version 2, and this kit reads version 1");
    }

    [Test]
    public void Round_without_moments_is_refused()
    {
        File.Delete(MomentsPath);

        AssertRefused("moments.bin", "it has no moments for bare/postgresql/full-dtc/ado, round 1");
    }

    [Test]
    public void Moments_cut_off_of_a_round_that_was_saved_are_refused()
    {
        File.WriteAllBytes(MomentsPath, File.ReadAllBytes(MomentsPath)[..^1]);

        AssertRefused("moments.bin", "the file ends in the middle of a block");
    }

    [TestCase(-2.0, "must be ascending")]
    [TestCase(double.NaN, "must be ascending")]
    public void Impossible_offsets_are_not_saved(double offset, string expected) =>
        Assert.That(() => folder.Save(First with { Attempt = 2, OffsetsMilliseconds = [offset] }), Throws.ArgumentException.With.Message.Contains(expected));

    private void AssertRefused(string file, string because) =>
        Assert.That(
            () => RunFolder.Open(folder.Location).Load(),
            Throws.TypeOf<KitException>().With.Message.Contains(file).And.Message.Contains(because).And.Property(nameof(KitException.Remedy)).Not.Empty);
}
