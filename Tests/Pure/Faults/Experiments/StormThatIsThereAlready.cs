using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Faults.Experiments;

/// <summary>A second command on a folder: a storm is named by its cell, and its numbers must be those that were asked for.</summary>
public sealed class StormThatIsThereAlready
{
    private static readonly Cell Stormed = Cell.All.First(cell =>
        cell is { Kind.Framework: "bare", Kind.Transport: TransportName.PostgreSql, Access.Name: "ado" }
        && cell.IsPlain && cell.Mode == TransactionMode.FullDtc);

    private static readonly StormPlan Asked = new(Kills: 5, Cuts: 5, Seed: 7);

    private static readonly StormFacts Made = new(Seed: 7, Kills: 5, Cuts: 5, InFlight: 20) { Asked = 10 };

    private TemporaryFolder folder = null!;

    [SetUp]
    public void MakeFolder() => folder = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => folder.Dispose();

    [Test]
    public void Is_that_of_the_plan_if_its_numbers_are()
    {
        using (Assert.EnterMultipleScope())
        {
            Assert.That(Asked.IsThatOf(Made), Is.True);
            Assert.That((Asked with { Seed = 8 }).IsThatOf(Made), Is.True, "nobody typed a seed");
            Assert.That((Asked with { Seed = 8, IsSeedTyped = true }).IsThatOf(Made), Is.False);
            Assert.That((Asked with { Kills = 1_000 }).IsThatOf(Made), Is.False);
            Assert.That((Asked with { Kills = 4, Cuts = 6 }).IsThatOf(Made), Is.False);
            Assert.That((Asked with { ServerCrashes = 1 }).IsThatOf(Made), Is.False);
            Assert.That(Asked.IsThatOf(Made with { Unflushed = "data" }), Is.False);
            Assert.That(Asked.IsThatOf(Made with { Kills = 2 }), Is.True, "it broke its promise before its last fault");
        }
    }

    [Test]
    public async Task With_other_numbers_is_not_taken_for_it()
    {
        await StoreAsync(FaultVerdict.Kept, record => record);

        Assert.That((await OpenAsync(Asked)).Has(NameOfStorm), Is.True);
        Assert.That(
            () => OpenAsync(Asked with { Kills = 1_000, Cuts = 0 }),
            Throws.TypeOf<KitException>().With.Property(nameof(KitException.IsUsage)).True.And.Message.Contains(
                "with 5 kills and 5 cuts of all connections, seed 7. This command asks for 1000 kills, 0 cuts, 0 server crashes, seed 7."));
    }

    [Test]
    public async Task That_shows_nothing_is_made_again_with_any_numbers()
    {
        await StoreAsync(FaultVerdict.Void, record => record);

        Assert.That((await OpenAsync(Asked with { Kills = 1_000 })).Has(NameOfStorm), Is.False);
    }

    [Test]
    public async Task Is_not_gone_on_with_on_another_machine()
    {
        await StoreAsync(FaultVerdict.Kept, document => document with { Host = document.Host with { MemoryBytes = document.Host.MemoryBytes * 2 } });

        Assert.That(() => OpenAsync(Asked), Throws.TypeOf<KitException>().With.Message.Contains("of another machine: machine, memory: "));
    }

    [Test]
    public async Task Keeps_the_first_command_and_the_later_ones()
    {
        await StoreAsync(FaultVerdict.Kept, record => record);

        var resumed = (await OpenAsync(Asked, "faults --storm --seed 7")).Document;

        Assert.That((resumed.CommandLine, resumed.Resumed!.Single().CommandLine), Is.EqualTo(("faults --storm", "faults --storm --seed 7")));
    }

    /// <summary>Points are recorded cell by cell: what was stopped between two of them is not whole.</summary>
    [Test]
    public async Task Cells_whose_points_were_not_recorded_are_outstanding()
    {
        var record = await OpenAsync(Asked);

        record.BeginCells(["first", "second"]);
        record.Begin(["first@1:a"]);
        record.EndCell("first");
        record.End();

        Assert.That(new FaultFolder(folder.Below("faults")).LoadDocument().Outstanding, Is.EqualTo(["second", "first@1:a"]));
    }

    private static string NameOfStorm => FaultResult.NameOf(Provenance.NameOf(Stormed), StormFacts.Name);

    private async Task StoreAsync(FaultVerdict verdict, Func<FaultDocument, FaultDocument> change)
    {
        var record = await OpenAsync(Asked);
        record.Save(change);
        record.Save(new FaultResult { Cell = Provenance.NameOf(Stormed), Fault = StormFacts.Name, Verdict = verdict, Storm = Made });
    }

    private Task<FaultRecord> OpenAsync(StormPlan storm, string commandLine = "faults --storm") => FaultRecord.OpenAsync(
        new FaultPlan([Stormed], [], storm, Speeds: null, folder.Below("faults"), commandLine)
        {
            Here = Transport.All.ToDictionary(transport => transport, _ => Support.Yes),
        },
        (_, _, _) => { },
        CancellationToken.None);
}
