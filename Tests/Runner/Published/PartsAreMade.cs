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
        var record = new PublicationRecord(ResultJson.Schema, "commit", []);

        Assert.That(await PublishCommand.MakeAsync([part], folder.Path, record, isBusy: true, CancellationToken.None), Is.EqualTo(ExitCode.Success));

        var made = PublicationRecord.In(folder.Path)!;
        Assert.That(made.Made.Select(one => one.Command), Is.EqualTo(part.Commands));
        Assert.That(RunFolder.Open(folder.Below("small")).Load().Rounds, Has.Count.EqualTo(1));
        Assert.That(new FaultFolder(folder.Below("small")).Exists, Is.True);
        Assert.That(await PublishCommand.MakeAsync([part], folder.Path, made, isBusy: true, CancellationToken.None), Is.EqualTo(ExitCode.Success));
        Assert.That(PublicationRecord.In(folder.Path)!.Made, Has.Count.EqualTo(2));
    }
}
