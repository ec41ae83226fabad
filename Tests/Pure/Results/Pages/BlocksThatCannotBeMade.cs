using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Tests.Results.Pages;

/// <summary>Each error names the page and the line, what was expected and what was found.</summary>
public sealed class BlocksThatCannotBeMade
{
    private InventedRepository repository = null!;

    [SetUp]
    public void SaveResults()
    {
        repository = new InventedRepository();
        repository.SaveRun("results/run", "full-dtc", "dtc-off");
        repository.SaveRun("results/other", "full-dtc");
        repository.SaveRun("results/insert", InventedRepository.RoundsOf("full-dtc"));
        repository.SaveExperiments("results/storm", [InventedRepository.StormOver("dtc-off")]);
        repository.Write("results/empty/notes.txt", "");
    }

    [TearDown]
    public void RemoveResults() => repository.Dispose();

    [TestCase("sppeds from results/run", "unknown block 'sppeds'. Blocks: modes-table, modes-chart, handling-pictures, ")]
    [TestCase("gains", "block 'gains': it needs a folder with a run (run.json), and its mark names none.")]
    [TestCase("gains from results/nowhere", "block 'gains': there is no folder results/nowhere.")]
    [TestCase("gains from results/empty", "block 'gains': results/empty holds no run (run.json), no experiments (faults.json) and no load (load.json).")]
    [TestCase("gains from results/storm", "block 'gains': it needs a folder with a run (run.json), and there is none in results/storm.")]
    [TestCase("gains from results/run, results/other", "block 'gains': it names 2 folders with a run (run.json), and needs one.")]
    [TestCase("modes-table from results/run", "block 'modes-table': it needs a folder with storms (faults.json), and there is none in results/run.")]
    [TestCase("claims from results/run", "block 'claims': it needs a folder with experiments (faults.json), and there is none in results/run.")]
    [TestCase("every-point from results/storm", "block 'every-point': results/storm has no experiments at the points of a handling.")]
    [TestCase("handling-pictures from results/storm", "block 'handling-pictures': results/storm has no points of bare/postgresql/full-dtc/ado.")]
    [TestCase("gains from results/run", "block 'gains': the run in results/run has no cell with fewer flushes or in batches.")]
    [TestCase("found-rates from results/run", "block 'found-rates': it needs a folder with a load (load.json), and there is none in results/run.")]
    [TestCase("round-trips from results/run", "block 'round-trips': the run in results/run has no cell at several distances.")]
    [TestCase("modes-chart from results/insert", "the run in results/insert has no cell bare/postgresql/full-dtc/ado/insert-and-send.")]
    [TestCase("modes-table from results/run, results/storm", "block 'modes-table': results/storm has no storm over bare/postgresql/full-dtc/ado.")]
    public void Are_named(string mark, string message) => AssertFailure(mark, message);

    [Test]
    public void A_chart_needs_a_round_of_each_mode_that_counts()
    {
        repository.SaveRun("results/all", [.. InventedRepository.RoundsOf(InventedRepository.Shown).Select(InventedRepository.Sending).Select(round =>
            round.Cell.Mode == "outbox" ? round with { Outcome = RoundOutcome.Invalid(["invented"]) } : round)]);

        AssertFailure("modes-chart from results/all", "block 'modes-chart': no round of bare/postgresql/outbox/ado/insert-and-send counts in results/all.");
    }

    [Test]
    public void A_damaged_folder_is_named()
    {
        repository.Write("results/run/run.json", "{}");

        AssertFailure("gains from results/run", "it is of schema none, and this kit reads schema 2.");
    }

    [TestCase("modes-table", FaultVerdict.Void, "the storm over bare/postgresql/shared/ado in results/broken is VOID and shows nothing.")]
    [TestCase("modes-chart", FaultVerdict.Broken, "the storm over bare/postgresql/shared/ado broke a promise that the chart does not show.")]
    public void A_storm_in_which_each_message_was_once_is_not_enough(string block, FaultVerdict verdict, string message)
    {
        repository.SaveRun("results/all", InventedRepository.Shown);
        repository.SaveExperiments(
            "results/broken",
            [
                .. InventedRepository.Shown.Select(mode => mode == "shared"
                    ? InventedRepository.StormOver(mode) with { Verdict = verdict }
                    : InventedRepository.StormOver(mode)),
            ]);

        AssertFailure($"{block} from results/all, results/broken", message);
    }

    /// <summary>A storm that failed has no facts, as a command writes it.</summary>
    [Test]
    public void A_storm_that_failed_is_named_and_one_that_was_weakened_is_none()
    {
        repository.SaveRun("results/all", InventedRepository.Shown);
        void Save(string folder, Func<FaultResult, FaultResult> change) => repository.SaveExperiments(
            folder,
            [.. InventedRepository.Shown.Select(mode => mode == "shared" ? change(InventedRepository.StormOver(mode)) : InventedRepository.StormOver(mode))]);
        Save("results/failed", storm => storm.FailedAfterwards("disk full"));
        Save("results/weakened", storm => storm with { Storm = storm.Storm! with { Unflushed = "queue" } });

        AssertFailure(
            "modes-table from results/all, results/failed", "the storm over bare/postgresql/shared/ado in results/failed is FAILED and shows nothing.");
        AssertFailure("modes-table from results/all, results/weakened", "results/weakened has no storm over bare/postgresql/shared/ado.");
    }

    private void AssertFailure(string mark, string message)
    {
        repository.Write("docs/page.md", $"# A page\n\n<!-- block: {mark} -->\n<!-- /block -->\n");

        Assert.That(repository.Make, Throws.TypeOf<KitException>().With.Message.StartsWith("docs/page.md:3: ").And.Message.Contains(message));
    }
}
