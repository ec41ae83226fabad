using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Servers;

/// <summary>Which folder the kit's own servers keep their files in, and what is said where it is in memory.</summary>
[Parallelizable]
public sealed class PlaceOfTheServers
{
    internal const string Memory = "/dev/shm";

    // A server's first files and some of its log take less, in bytes.
    private const long ForAServer = 200 * 1024 * 1024;

    private static readonly ServerPlace First = new("/one", "tmpfs", IsInMemory: true);
    private static readonly ServerPlace Second = new("/two", "ext4", IsInMemory: false);
    private static readonly ServerPlace Third = new("/three", "xfs", IsInMemory: false);

    [TestCase(false, false)]
    [TestCase(false, true)]
    [TestCase(true, false, Description = "Memory is used if there is no disk, or if the user names it.")]
    public void The_first_on_a_disk(bool allowsMemory, bool isFirstNamed) =>
        Assert.That(ServerPlace.Choose([First, Second, Third], allowsMemory, isFirstNamed), Is.EqualTo(Second));

    [Test]
    public void The_named_one_where_memory_is_allowed() =>
        Assert.That(ServerPlace.Choose([First, Second, Third], allowsMemory: true, isFirstNamed: true), Is.EqualTo(First));

    [Test]
    public void The_first_of_all_where_memory_is_allowed_and_there_is_no_disk() =>
        Assert.That(ServerPlace.Choose([First, First with { Path = "/other" }], allowsMemory: true, isFirstNamed: false), Is.EqualTo(First));

    [Test]
    public void Where_none_is_on_a_disk_each_is_named_with_what_can_be_done() =>
        Assert.That(
            () => ServerPlace.Choose([First, First with { Path = "/other" }], allowsMemory: false, isFirstNamed: true),
            Throws.InstanceOf<KitException>()
                .With.Message.EqualTo("None of the folders for the kit's own servers is on a disk: /one (tmpfs, in memory), /other (tmpfs, in memory).")
                .And.Property(nameof(KitException.Remedy)).Contains(ServerPlace.Option));

    [Test]
    public void The_named_one_is_the_first_candidate_and_none_comes_twice()
    {
        var named = Path.TrimEndingDirectorySeparator(Path.GetTempPath());

        var candidates = ServerPlace.Candidates(named);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(candidates[0].Path, Is.EqualTo(named));
            Assert.That(candidates.Select(place => place.Path), Is.Unique);
        }
    }

    [Test]
    public void A_named_one_that_is_not_there_is_refused() =>
        Assert.That(
            () => ServerPlace.Candidates("/no/such/folder"),
            Throws.InstanceOf<KitException>().With.Message.EqualTo("KIT_TEMP names /no/such/folder, which is not a folder."));

    /// <summary>The servers have a user of their own, who must reach their folder under a strict umask, too.</summary>
    [Test]
    [Exhaustive]
    public async Task A_run_in_memory_under_a_strict_umask_says_so_next_to_every_table()
    {
        if (!Directory.Exists(Memory))
            Assert.Ignore($"There is no {Memory} here.");
        if (new DriveInfo(Memory).AvailableFreeSpace < ForAServer)
            Assert.Ignore($"{Memory} is too small, as in most containers, or full.");
        PostgreSqlServer.IgnoreWithoutPrograms();
        var place = Directory.CreateDirectory(Path.Combine(Memory, $"kit-test-{Guid.NewGuid():N}")).FullName;
        using var parent = new TemporaryFolder();
        var folder = Path.Combine(parent.Path, "run");
        try
        {
            using var runner = RunnerProcess.Start(
                new Dictionary<string, string> { [ServerPlace.Variable] = place, ["PGOPTIONS"] = "-c synchronous_commit=off" },
                "sh",
                [
                    "-c", "umask 027; exec \"$0\" \"$@\"", RunnerProcess.ProgramPath,
                    "run", "--framework", "bare", "--transport", "postgresql", "--mode", "scope-off", "--messages", "20", "--warmup", "5",
                    "--seed-rows", "10", "--rounds", "1", "--no-repeat", ServerPlace.Option, "--out", folder,
                ]);
            var result = await runner.EndAsync();

            Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Output + result.Errors);
            var run = RunFolder.Open(folder).Load();
            var tables = await File.ReadAllTextAsync(RunFolder.Open(folder).ReportPath);
            using (Assert.EnterMultipleScope())
            {
                Assert.That(run.Document.Disk, Is.Not.Null);
                Assert.That((run.Document.Disk?.Folder, run.Document.Disk?.IsInMemory), Is.EqualTo((place, true)));
                Assert.That(run.Document.Server["synchronous_commit"], Is.EqualTo("on"), "whatever the user's shell says");
                Assert.That(run.Document.Disk?.Flush.Count, Is.GreaterThan(100));
                Assert.That(run.Rounds.Single().Noise.FlushRatio, Is.Positive);
                Assert.That(result.Output, Does.Contain("Not durable: the servers kept their files in memory"));
                Assert.That(tables.Split("Not durable: ").Length - 1, Is.EqualTo(2), "above the rounds and below the summary");
            }
        }
        finally
        {
            Directory.Delete(place, recursive: true);
        }
    }
}
