using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Results.Published;
using Kit.Runner.Servers;

namespace Kit.Tests.Published;

/// <summary>The plan of a publication, and the record of what is made of it.</summary>
public sealed class PlanOfThePublication
{
    private const string Command = "run --quick";

    private static readonly GitCommit Commit = new("0123456789012345678901234567890123456789", Dirty: false);
    private static readonly Build OfThatCommit = new("", "0.1.0+" + Commit.Id, "");

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
    [TestCase(
        """{ "folder": "r", "page": "a", "parts": [{ "name": "a", "hours": 1, "commands": [] }, { "name": "a", "hours": 1, "commands": [] }] }""",
        "the part 'a' twice")]
    public void A_wrong_plan_is_refused(string text, string says)
    {
        using var repository = new TemporaryFolder();
        Directory.CreateDirectory(repository.Below("docs"));
        File.WriteAllText(repository.Below(Publication.File), text);

        Assert.That(
            () => Publication.Read(repository.Path),
            Throws.TypeOf<KitException>().With.Message.Contains(says).And.Property(nameof(KitException.IsUsage)).True);
    }

    [Test]
    public void A_record_is_read_as_it_was_saved()
    {
        using var folder = new TemporaryFolder();
        var part = new PublicationPart("a", 1, [Command, "faults"]);

        new PublicationRecord(ResultJson.Schema, Commit.Id, []).With(folder.Path, new MadeCommand("a", Command, default, default, ExitCode.Failure));

        var read = PublicationRecord.In(folder.Path)!;
        Assert.That(read.Commit, Is.EqualTo(Commit.Id));
        Assert.That(read.Has(part, Command), Is.True);
        Assert.That(read.Has(part, "faults"), Is.False);
        Assert.That(read.Made, Is.EqualTo([new MadeCommand("a", Command, default, default, ExitCode.Failure)]));
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
    public void A_build_without_a_commit_of_its_own_publishes_nothing()
    {
        var other = OfThatCommit with { Version = "0.1.0+other" };
        foreach (var (commit, build) in new[] { (null, OfThatCommit), (Commit with { Dirty = true }, OfThatCommit), (Commit, other) })
        {
            Assert.That(
                () => PublishCommand.Of(begun: null, commit, build),
                Throws.TypeOf<KitException>().With.Message.StartsWith("A publication names the commit that made it"));
        }
    }
}
