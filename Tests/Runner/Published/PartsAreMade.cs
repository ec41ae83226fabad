using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Published;

namespace Kit.Tests.Published;

/// <summary>The parts of a publication, made by small commands.</summary>
[Parallelizable]
public sealed class PartsAreMade
{
    private const string Cell = "--framework bare --transport postgresql --mode scope-off";

    [Test]
    public async Task Two_commands_fill_one_folder_and_are_made_once()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        var part = new PublicationPart(
            "small", 0.1, [$"run --quick {Cell} --messages 200 --warmup 50 --seed-rows 1000 --no-durability", $"faults {Cell} --fault throw-after-insert"]);
        var record = new PublicationRecord(ResultJson.Schema, "commit", "fingerprint", []);

        Assert.That(await MakeAsync(part, folder.Path, record), Is.EqualTo(ExitCode.Success));

        var made = PublicationRecord.In(folder.Path)!;
        Assert.That(made.Commands.Select(one => (one.Command, one.ExitCode)), Is.EqualTo(part.Commands.Select(command => (command, (int?)ExitCode.Success))));
        Assert.That(RunFolder.Open(folder.Below("small")).Load().Rounds, Has.Count.EqualTo(1));
        Assert.That(new FaultFolder(folder.Below("small")).Exists, Is.True);
        Assert.That(PublishCommand.OpenOf([part], made, isNamed: true), Is.Empty);
    }

    [Test]
    public void A_folder_that_it_did_not_begin_is_left_alone()
    {
        using var folder = new TemporaryFolder();
        Directory.CreateDirectory(folder.Below("mine"));
        File.WriteAllText(folder.Below("mine", "load.json"), "{}");

        Assert.That(
            () => MakeAsync(new PublicationPart("mine", 1, ["load"]), folder.Path, new PublicationRecord(ResultJson.Schema, "commit", "fingerprint", [])),
            Throws.TypeOf<KitException>().With.Message.EndsWith("has results that this publication did not make."));
        Assert.That(File.Exists(folder.Below("mine", "load.json")), Is.True);
    }

    [Test]
    public async Task A_command_that_cannot_be_understood_is_not_made_and_what_was_stopped_is_moved_aside()
    {
        using var folder = new TemporaryFolder();
        Directory.CreateDirectory(folder.Below("load"));
        File.WriteAllText(folder.Below("load", "load.json"), "{}");
        var part = new PublicationPart("load", 1, ["load --bogus"]);
        var stopped = new PublicationRecord(ResultJson.Schema, "commit", "fingerprint", [new BegunCommand("load", "load --bogus", default)]);

        await Assert.ThatAsync(() => MakeAsync(part, folder.Path, stopped), Throws.TypeOf<KitException>().With.Message.Contains("--bogus"));

        Assert.That(File.Exists(folder.Below("load-stopped", "load.json")), Is.True);
        Assert.That(PublishCommand.OpenOf([part], PublicationRecord.In(folder.Path), isNamed: false), Has.Count.EqualTo(1));
    }

    [Test]
    public void A_build_that_is_no_longer_the_publication_s_makes_nothing_more()
    {
        using var folder = new TemporaryFolder();
        var record = new PublicationRecord(ResultJson.Schema, "commit", "fingerprint", []);

        Assert.That(
            () => MakeAsync(new PublicationPart("small", 1, ["load --bogus"]), folder.Path, record, _ => throw new KitException("committed", "build")),
            Throws.TypeOf<KitException>().With.Message.EqualTo("committed"));
        Assert.That(Directory.EnumerateFileSystemEntries(folder.Path), Is.Empty);
    }

    private static Task<int> MakeAsync(PublicationPart part, string folder, PublicationRecord record) =>
        MakeAsync(part, folder, record, _ => Task.CompletedTask);

    private static Task<int> MakeAsync(
        PublicationPart part, string folder, PublicationRecord record, Func<PublicationRecord, Task> require) =>
        PublishCommand.MakeAsync(PublishCommand.OpenOf([part], record, isNamed: false), folder, record, isBusy: true, require, CancellationToken.None);
}
