using System.Xml.Linq;
using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Results.Published;
using Kit.Runner.Servers;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Published;

/// <summary>The plan of a publication, and the record of what is made of it.</summary>
public sealed class PlanOfThePublication
{
    private const string Command = "run --quick";

    private static readonly GitCommit Commit = new("0123456789012345678901234567890123456789", Dirty: false);
    private static readonly Build OfThatCommit = new("", "0.1.0+" + Commit.Id, "fingerprint");

    [Test]
    public void Each_command_of_the_repositorys_plan_is_understood()
    {
        var plan = Publication.Read(RepositoryFiles.Root);

        foreach (var command in plan.Parts.SelectMany(part => part.Commands))
        {
            string[] arguments = [.. command.Split(' '), "--out", "results/part"];
            Assert.That(AllCommands.Under(arguments).Parse(arguments).Errors, Is.Empty, command);
        }
    }

    [TestCase("""{ "folder": "results/a", "page": "b", "parts": [] }""", "The publication has no part 'b'.")]
    [TestCase("""{ "folder": "results/a", "parts": [] }""", "page")]
    [TestCase("""{ "folder": "results/a", "page": "a", "parts": [], "more": 1 }""", "more")]
    [TestCase("""{ "folder": "../a", "page": "a", "parts": [{ "name": "a", "hours": 1, "commands": [] }] }""", "the folder '../a' is not one below results")]
    [TestCase("""{ "folder": "results/a", "page": "..", "parts": [{ "name": "..", "hours": 1, "commands": [] }] }""", "'..' is no name of a part")]
    [TestCase(
        """
        { "folder": "results/a", "page": "a", "parts": [
            { "name": "a", "hours": 1, "commands": ["run"] }, { "name": "a", "hours": 1, "commands": ["run"] }] }
        """,
        "the part 'a' is there twice")]
    [TestCase("""{ "folder": "results/a", "page": "a", "parts": [{ "name": "a", "hours": 1, "commands": ["run", "load"] }] }""", "alone in their folder")]
    [TestCase("""{ "folder": "results/a", "page": "a", "parts": [{ "name": "a", "hours": 1, "commands": ["run", "run --quick"] }] }""", "has one run")]
    [TestCase("""{ "folder": "results/a", "page": "a", "parts": [{ "name": "a", "hours": 1, "commands": ["compare"] }] }""", "alone in their folder")]
    public void A_wrong_plan_is_refused(string text, string says)
    {
        using var repository = new TemporaryFolder();
        Directory.CreateDirectory(repository.Below("docs"));
        File.WriteAllText(repository.Below(Publication.File), text);

        Assert.That(
            () => Publication.Read(repository.Path),
            Throws.TypeOf<KitException>().With.Message.Contains(says).And.Property(nameof(KitException.IsUsage)).True);
    }

    [TestCase("run --quick", true)]
    [TestCase("load --find-rate", true)]
    [TestCase("experiment nservicebus-2014", true)]
    [TestCase("faults --storm", false)]
    public void What_measures_a_speed_waits_for_a_quiet_machine(string command, bool measures) =>
        Assert.That(PublicationPart.MeasuresSpeed(command), Is.EqualTo(measures));

    [Test]
    public async Task No_part_is_not_every_part()
    {
        var result = await RunnerInProcess.RunAsync("publish", "--part", ",");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Usage));
        Assert.That(result.Errors, Does.Contain("--part: no name. --list shows the parts."));
    }

    [Test]
    public void A_record_is_read_as_it_was_saved()
    {
        using var folder = new TemporaryFolder();
        Directory.CreateDirectory(folder.Below("a"));
        var part = new PublicationPart("a", 1, [Command, "faults"]);
        var begun = new BegunCommand("a", Command, default);

        var record = PublishCommand.Of(begun: null, Commit, OfThatCommit).With(folder.Path, begun);
        Assert.That(PublicationRecord.In(folder.Path)!.Find(part, Command), Is.EqualTo(begun));
        record.With(folder.Path, begun with { EndedUtc = DateTimeOffset.UnixEpoch, ExitCode = ExitCode.Failure });

        var read = PublicationRecord.In(folder.Path)!;
        Assert.That((read.Commit, read.Fingerprint, read.Commands.Count), Is.EqualTo((Commit.Id, "fingerprint", 1)));
        Assert.That(read.Find(part, Command)!.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(read.Find(part, "faults"), Is.Null);
        Assert.That(PublishCommand.OpenOf([part], read, isNamed: false).Select(one => one.Command), Is.EqualTo(["faults"]));
        Assert.That(PublishCommand.OpenOf([part], read, isNamed: true).Select(one => one.Command), Is.EqualTo([Command, "faults"]));
    }

    [Test]
    public void A_part_whose_folder_was_moved_away_is_open_again()
    {
        using var folder = new TemporaryFolder();
        var part = new PublicationPart("a", 1, [Command]);

        PublishCommand.Of(begun: null, Commit, OfThatCommit).With(folder.Path, new BegunCommand("a", Command, default) { ExitCode = ExitCode.Success });

        Assert.That(PublishCommand.OpenOf([part], PublicationRecord.In(folder.Path), isNamed: false), Has.Count.EqualTo(1));
    }

    [TestCase("0.1.0+built", "built", false, "built", false)]
    [TestCase("0.1.0+built", "built", true, "built", true)]
    [TestCase("0.1.0+built", "later", false, "built", true, Description = "Somebody has committed since.")]
    [TestCase("0.1.0", "later", false, "later", false, Description = "The build names no commit.")]
    public void Results_name_the_commit_that_the_program_was_built_from(string version, string checkedOut, bool hasChanges, string id, bool dirty) =>
        Assert.That(WorkTree.CommitOf(OfThatCommit with { Version = version }, checkedOut, hasChanges), Is.EqualTo(new GitCommit(id, dirty)));

    [TestCase("f1", false, "f1", false, ExpectedResult = true)]
    [TestCase("f1", true, "f1", true, ExpectedResult = true, Description = "What changed is in the fingerprint.")]
    [TestCase("f1", false, "f2", false, ExpectedResult = false, Description = "Other optional packages.")]
    [TestCase(null, false, "f2", false, ExpectedResult = true, Description = "An older document.")]
    [TestCase(null, true, "f2", true, ExpectedResult = false)]
    public bool Two_documents_are_of_one_build_by_their_fingerprints(string? fingerprint, bool dirty, string? other, bool otherDirty) =>
        GitCommit.AreOneBuild(Commit with { Dirty = dirty }, fingerprint, Commit with { Dirty = otherDirty }, other);

    [Test]
    public void What_a_publication_changes_is_no_part_of_the_program()
    {
        var embedded = from project in RepositoryFiles.Of("*.csproj")
                       let document = XDocument.Load(project)
                       from file in document.Descendants("EmbeddedResource").Attributes("Include")
                       select Path.GetFullPath(Path.Combine(Path.GetDirectoryName(project)!, file.Value));

        Assert.That(
            embedded, Has.None.EndsWith(".md").And.None.EndsWith(".svg").And.None.Contains("/results/"),
            "a publication goes on with the same build after its pages are written, and the work tree is clean while it does");
    }

    [TestCase(true, true)]
    [TestCase(false, false)]
    public void A_work_tree_is_found_also_where_git_may_not_read_it(bool isCheckedOut, bool isInOne)
    {
        using var folder = new TemporaryFolder();
        File.WriteAllText(folder.Below("Kit.sln"), "");
        if (isCheckedOut)
            File.WriteAllText(folder.Below(".git"), "gitdir: elsewhere");

        Assert.That(WorkTree.IsInOne(Directory.CreateDirectory(folder.Below("Runner", "bin")).FullName), Is.EqualTo(isInOne));
    }

    [Test]
    public void Another_commit_does_not_go_on()
    {
        var begun = PublishCommand.Of(begun: null, Commit, OfThatCommit);

        Assert.That(PublishCommand.Of(begun, Commit, OfThatCommit), Is.SameAs(begun));
        Assert.That(
            () => PublishCommand.Of(begun with { Commit = "another" }, Commit, OfThatCommit),
            Throws.TypeOf<KitException>().With.Message.StartsWith("The publication was begun by commit another"));
    }

    [Test]
    public void Another_build_of_the_commit_does_not_go_on() => Assert.That(
        () => PublishCommand.Of(PublishCommand.Of(begun: null, Commit, OfThatCommit), Commit, OfThatCommit with { Fingerprint = "other" }),
        Throws.TypeOf<KitException>().With.Message.Contains("(build other)"));

    [Test]
    public void A_build_without_a_commit_of_its_own_publishes_nothing()
    {
        foreach (var commit in new[] { null, Commit with { Dirty = true } })
        {
            Assert.That(
                () => PublishCommand.Of(begun: null, commit, OfThatCommit),
                Throws.TypeOf<KitException>().With.Message.StartsWith("A publication names the commit that made it"));
        }
    }
}
