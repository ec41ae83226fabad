using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Pages;

public sealed class BlocksOfServerCrashes
{
    private InventedRepository repository = null!;

    [SetUp]
    public void Create() => repository = new InventedRepository();

    [TearDown]
    public void Remove() => repository.Dispose();

    [Test]
    public void Say_what_became_of_the_messages()
    {
        repository.SaveExperiments(
            "results/crashes",
            [
                CrashesOf(At(LogFlush.None, "shared"), again: 38, (DeliveryClass.Once, 2_000)),
                CrashesOf(InventedRun.Cell("dtc-off"), again: 3, (DeliveryClass.Once, 1_998), (DeliveryClass.Duplicated, 2)),
                Forced(CrashesOf(InventedRun.Cell("scope-off"), again: 0, (DeliveryClass.Once, 1_896), (DeliveryClass.Lost, 104))),
                InventedRepository.StormOver("outbox"),
            ],
            InventedExperiments.Document with { Implied = new Dictionary<string, string> { [AxisName.Flush] = LogFlush.Every.Name } });

        var lines = repository.Made("server-crashes from results/crashes").Split('\n');
        Assert.That(string.Join('\n', lines[..^1]), Is.EqualTo(
            """
            | Cell | Setting | Crashes | Messages | Handled again | Not handled exactly once | Promise |
            | --- | --- | ---: | ---: | ---: | --- | --- |
            | `bare/postgresql/dtc-off` | `every` | 20 | 2,000 | 3 | 2 doubled | kept |
            | `bare/postgresql/shared` | `none` | 20 | 2,000 | 38 | 0 | kept |

            """.ReplaceLineEndings("\n")));
        Assert.That(lines[^1], Does.StartWith(
            "From [results/crashes](../results/crashes/guarantees.md), 2026-03-01, commit 0123456 with changes, seed 7. 40 crashes in all. *Handled again*: "));
    }

    [Test]
    public void Say_what_was_forced_apart_from_what_was_not()
    {
        var crashes = CrashesOf(InventedRun.Cell("scope-off"), again: 0, (DeliveryClass.Once, 1_896), (DeliveryClass.Lost, 104));
        repository.SaveExperiments("results/crashes", [Forced(crashes)]);

        Assert.That(
            repository.Made("unflushed-crashes from results/crashes"),
            Does.Contain("\n| `bare/postgresql/scope-off` | `synchronous_commit = off` for data, forced | 20 | 2,000 | 0 | 104 lost | kept |\n"));
        Assert.That(
            () => repository.Made("server-crashes from results/crashes"),
            Throws.TypeOf<KitException>().With.Message.Contains("no storm in results/crashes has a crash of the server"));
    }

    [Test]
    public void Need_a_crash()
    {
        repository.SaveStorms("results/storms");

        Assert.That(
            () => repository.Made("server-crashes from results/storms"),
            Throws.TypeOf<KitException>().With.Message.Contains("no storm in results/storms has a crash of the server"));
    }

    private static CellName At(LogFlush flush, string mode) => new(InventedRun.Cell(mode).Values.Append((AxisName.Flush, flush.Name)));

    private static FaultResult CrashesOf(CellName cell, int again, params (DeliveryClass Class, int Messages)[] counts) =>
        InventedExperiments.Storm(cell, counts) with
        {
            Storm = new StormFacts(Seed: 7, Kills: 0, Cuts: 0, InFlight: 40) { ServerCrashes = 20, Again = again },
        };

    private static FaultResult Forced(FaultResult storm) => storm with { Storm = storm.Storm! with { Unflushed = "data" } };
}
