using Kit.Runner.Results;
using Kit.Runner.Results.Loads;

namespace Kit.Tests.Results.Loads;

/// <summary>The picture of what was sampled during loads.</summary>
[Parallelizable]
public sealed class SamplesOverTime
{
    private static readonly CellName Cell = InventedLoads.Good.Cell;

    private static readonly LoadDocument Document = InventedLoads.Searched with
    {
        Results = [InventedLoads.Good],
        Settings = InventedLoads.Searched.Settings with { SnapshotFromSeconds = 10, SnapshotToSeconds = 20 },
    };

    /// <summary>
    /// Two loads of one cell. In the first, 100 messages a second are sent, and from the tenth to the twentieth second 60 leave the queue. The second has
    /// twice as many, and at its end no server says what is in the queue.
    /// </summary>
    private static IEnumerable<LoadSample> Samples =>
        from load in Enumerable.Range(1, 2)
        from at in Enumerable.Range(0, 4)
        let queued = at >= 2 ? 400 : 0
        select new LoadSample(Cell, at * 10, at * 1_000 * load)
        {
            Queued = (load, at) is (2, 3) ? null : queued * load,
            DeadRows = 0,
            Threads = 20 + at,
        };

    [Test]
    public void Shows_the_figures_of_each_load_that_are_not_zero()
    {
        using var folder = new TemporaryFolder();

        var picture = Draw(folder);

        Approval.Verify("over-time.svg", picture);
        Assert.That(
            picture,
            Does.Contain("<title>Out of the queue, messages a second: lowest 60.0, highest 100</title>")
                .And.Contain("lowest 120, highest 200").And.Contain("/shared, load 2 of 2<"));
        Assert.That(picture, Does.Not.Contain("Dead rows").And.Not.Contain(SoakFigure.WorkingSet), "none, and not known");
        Assert.That(File.ReadAllText(Path.Combine(folder.Path, "load.md")), Does.Contain("![Figures of the load over time](over-time.svg)"));
    }

    [Test]
    public void A_load_with_one_sample_or_none_has_none([Values(0, 1)] int samples)
    {
        using var folder = new TemporaryFolder();
        Save(folder.Path, Document, Samples.Take(samples));

        Assert.That(File.Exists(Path.Combine(folder.Path, "over-time.svg")), Is.False);
        Assert.That(File.ReadAllText(Path.Combine(folder.Path, "load.md")), Does.Not.Contain("over-time.svg").And.Not.Contain("## Over time"));
    }

    /// <summary>Both first samples are some milliseconds after the begin of their load.</summary>
    [Test]
    public void A_load_that_was_stopped_at_its_first_sample_is_counted_and_not_drawn()
    {
        using var folder = new TemporaryFolder();
        Save(
            folder.Path,
            Document,
            [new LoadSample(Cell, 0.004, 0) { Queued = 50 }, .. Samples.Take(4).Select(sample => sample with { Seconds = sample.Seconds + 0.006 })]);

        var picture = File.ReadAllText(Path.Combine(folder.Path, "over-time.svg"));

        Assert.That(picture, Does.Contain("/shared, load 2 of 2<").And.Not.Contain("load 1 of 2"));
        Assert.That(picture, Does.Contain("<title>Out of the queue, messages a second: lowest 60.0, highest 100</title>"));
    }

    [Test]
    public void A_damaged_sample_is_named()
    {
        using var folder = new TemporaryFolder();
        Draw(folder);
        File.AppendAllText(Path.Combine(folder.Path, LoadFolder.SamplesFile), "{\"cell\":7}\n");

        Assert.That(
            () => new LoadFolder(folder.Path).Reports,
            Throws.TypeOf<KitException>().With.Message.Contains($"{LoadFolder.SamplesFile}, line 9, it is damaged"));
    }

    private static string Draw(TemporaryFolder folder)
    {
        Save(folder.Path, Document, Samples);
        return File.ReadAllText(Path.Combine(folder.Path, "over-time.svg"));
    }

    private static void Save(string path, LoadDocument document, IEnumerable<LoadSample> samples)
    {
        var load = new LoadFolder(path);
        foreach (var sample in samples)
            load.Append(sample);
        load.Save(document);
    }
}
