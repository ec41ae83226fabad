using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Points;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Pages;

/// <summary>Pictures of one handling: the requests and the classes are those of experiments at points.</summary>
public sealed class BlocksOfHandlings
{
    private const string Folder = "results/points";

    // The rows commit first: a kill between the two commits doubles them.
    private static readonly (string Server, string Text, int First)[] Apart =
    [
        ("queue", "BEGIN", 1), ("queue", "DELETE FROM \"widgets\" WHERE", 1), ("data", "BEGIN", 3), ("data", "INSERT INTO widget (id)", 3),
        ("data", "COMMIT", 3), ("queue", "COMMIT", 1),
    ];

    private static readonly (string Server, string Text, int First)[] InTwoPhases =
    [
        ("queue", "DELETE FROM \"widgets\" WHERE", 1), ("data", "INSERT INTO widget (id)", 2), ("data", "PREPARE TRANSACTION '?'", 2), ("queue", "COMMIT", 1),
        ("data", "COMMIT PREPARED '?'", 5),
    ];

    private InventedRepository repository = null!;

    [SetUp]
    public void Create() => repository = new InventedRepository();

    [TearDown]
    public void Remove() => repository.Dispose();

    [Test]
    public void Show_what_commits_with_what_and_what_a_kill_does()
    {
        Save(Apart, requests => requests == 5 ? DeliveryClass.Duplicated : DeliveryClass.Once);

        var block = repository.Made($"handling-pictures from {Folder}").Split('\n');
        var pictures = repository.Make().Skip(1).ToList();

        Assert.That(block[0], Is.EqualTo(
            "<img src=\"handling/full-dtc.svg\" width=\"360\" align=\"top\" alt=\"full-dtc commits row, then receive. " +
            "Killed from commit (rows) to commit (queue): rows doubled; otherwise once.\">"));
        Assert.That(pictures.Select(picture => picture.Path), Is.EqualTo(ShownCells.Modes.Select(mode => $"docs/handling/{mode}.svg")));
        Approval.Verify("handling.svg", pictures[0].Text);
    }

    [Test]
    public void A_prepared_branch_commits_with_the_commit_that_decides()
    {
        Save(InTwoPhases, _ => DeliveryClass.Once);

        Assert.That(repository.Made($"recovery-picture from {Folder}"), Does.Contain(
            "commits receive and row together. Killed from the start to prepare: the server rolls all back: received again; " +
            "from prepare to commit (queue): recovery rolls the branch back: received again; " +
            "from commit (queue) to commit (rows): recovery commits the branch; from commit (rows) to the end: all committed."));
    }

    [Test]
    public void A_message_that_recovery_should_have_saved_is_an_error()
    {
        Save(InTwoPhases, requests => requests == 4 ? DeliveryClass.Lost : DeliveryClass.Once);

        Assert.That(() => repository.Made($"recovery-picture from {Folder}"), Throws.TypeOf<KitException>().With.Message.Contains("the message was lost"));
    }

    [Test]
    public void A_point_without_an_experiment_is_an_error()
    {
        Save(Apart, requests => requests == 5 ? null : DeliveryClass.Once);

        Assert.That(() => repository.Made($"handling-pictures from {Folder}"), Throws.TypeOf<KitException>().With.Message.Contains(
            "results/points does not show a kill after request 5 of bare/postgresql/full-dtc/ado."));
    }

    [Test]
    public void A_kill_at_another_moment_shows_nothing_about_the_point()
    {
        Save(Apart, _ => DeliveryClass.Once, elsewhere: 5);

        Assert.That(() => repository.Made($"handling-pictures from {Folder}"), Throws.TypeOf<KitException>().With.Message.Contains(
            "results/points does not show a kill after request 5 of bare/postgresql/full-dtc/ado."));
    }

    [Test]
    public void The_choice_leads_to_the_modes_of_the_rules()
    {
        var words = repository.Made("choice-tree");

        Assert.That(words, Does.Contain($"{NeedsInWords.Places[0].Meaning}: {TransactionMode.Shared}; "));
        foreach (var tolerance in NeedsInWords.Tolerances)
        {
            var mode = ModeChoice.Of(new HandlerNeeds(RowsPlace.Elsewhere, tolerance.Value, SeesRows: true))[0];
            Assert.That(words, Does.Match($"{tolerance.Meaning}: {mode}[;.]"));
        }

        Assert.That(words, Does.Contain("no: full-dtc; yes: full-dtc-waiting;"));
    }

    /// <param name="classAfter">The class after a kill behind a number of requests; <see langword="null"/>: nobody tried it.</param>
    /// <param name="elsewhere">Number of requests behind which the process was killed at another moment.</param>
    private void Save((string Server, string Text, int First)[] requests, Func<int, DeliveryClass?> classAfter, int? elsewhere = null)
    {
        CrashPoint[] points =
        [
            .. requests.Select((one, at) => new CrashPoint(
                at + 1, new RequestId(one.Server, one.Text, "done", 1, 1), Before: null, HasAnswer: true, CanBeProved: true)
            {
                Leading = one.First == at + 1 ? [] : [one.First],
            }),
        ];
        var cells = InventedRepository.Shown.Select(mode => InventedRun.Cell(mode)).ToList();
        repository.SaveExperiments(
            Folder,
            [
                .. from cell in cells
                   from sent in Enumerable.Range(0, points.Length + 1)
                   let found = classAfter(sent)
                   where found is not null
                   let way = sent == 0 ? PointWay.NeverSent : PointWay.Killed
                   select At(cell, Math.Max(sent, 1), way, found.Value, isElsewhere: sent == elsewhere),
            ],
            InventedExperiments.Document with { Points = cells.ToDictionary(cell => $"{cell}", IReadOnlyList<CrashPoint> (_) => points) });
    }

    private static FaultResult At(CellName cell, int number, PointWay way, DeliveryClass seen, bool isElsewhere) => new()
    {
        Cell = cell,
        Fault = $"@{number}:{way.Facts().Letter}",
        Verdict = FaultVerdict.Kept,
        Observed = [new Observation(seen, 1)],
        Point = new PointFacts($"{cell.FileName}@{number}:{way.Facts().Letter}", number, way, "invented") { IsElsewhere = isElsewhere },
    };
}
