using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;
using Kit.Tests.Results.Faults;

namespace Kit.Tests.Results.Pages;

/// <summary>A repository with results that nobody measured.</summary>
internal sealed class InventedRepository : IDisposable
{
    public static readonly string[] Shown = ["full-dtc", "dtc-off", "scope-off", "transactions-off", "shared", "outbox"];

    private readonly TemporaryFolder temporary = new();

    public string Root => temporary.Path;

    public IReadOnlyList<ShownKind> Kinds { get; init; } = [];

    public void Write(string path, string text)
    {
        var file = temporary.Below(path.Split('/'));
        Directory.CreateDirectory(Path.GetDirectoryName(file)!);
        File.WriteAllText(file, text);
    }

    public string Read(string path) => File.ReadAllText(temporary.Below(path.Split('/')));

    /// <summary>Five rounds of each mode with a handler that sends, each 0.1 s longer than the one before.</summary>
    public void SaveRun(string folder, params string[] modes) => SaveRun(folder, [.. RoundsOf(modes).Select(Sending)]);

    public void SaveRun(string folder, IReadOnlyList<RoundDocument> rounds, RunDocument? document = null)
    {
        var cells = rounds.Select(round => round.Cell).Distinct().ToList();
        var run = RunFolder.Create(temporary.Below(folder.Split('/')), (document ?? InventedRun.Document) with { Cells = cells });
        foreach (var round in rounds)
            run.Save(round);
    }

    public static IReadOnlyList<RoundDocument> RoundsOf(params IEnumerable<string> modes) =>
        [.. modes.SelectMany(mode => Enumerable.Range(1, 5).Select(number => InventedRun.Round(mode, number, seconds: 1 + (0.1 * number))))];

    /// <summary>The round with a handler that sends.</summary>
    public static RoundDocument Sending(RoundDocument round) =>
        round with { Cell = new CellName(round.Cell.Values.Append((AxisName.Scenario, SpeedSource.LikeExperiments))) };

    /// <summary>A storm over each mode that is shown, in which all is well but for <c>transactions-off</c>.</summary>
    public void SaveStorms(string folder) => SaveExperiments(folder, [.. Shown.Select(StormOver)]);

    public static FaultResult StormOver(string mode) => mode == TransactionMode.TransactionsOff.Name
        ? InventedExperiments.Storm(InventedRun.Cell(mode), (DeliveryClass.Once, 1_994), (DeliveryClass.Lost, 4), (DeliveryClass.Torn, 2))
        : InventedExperiments.Storm(InventedRun.Cell(mode), (DeliveryClass.Once, 2_000));

    public void SaveExperiments(string folder, IReadOnlyList<FaultResult> results, FaultDocument? document = null)
    {
        var faults = new FaultFolder(temporary.Below(folder.Split('/')));
        faults.Save(document ?? InventedExperiments.Document);
        foreach (var result in results)
            faults.Save(result);
    }

    public IReadOnlyList<PageFile> Make() => new PagesOfTheKit(Root, Kinds).Make();

    /// <summary>What one block of a page below docs has to be.</summary>
    public string Made(string mark)
    {
        Write("docs/page.md", $"<!-- block: {mark} -->\n<!-- /block -->\n");
        var lines = Make().Single(file => file.Path == "docs/page.md").Text.Split('\n');
        return string.Join('\n', lines[1..^2]);
    }

    public void Dispose() => temporary.Dispose();
}
