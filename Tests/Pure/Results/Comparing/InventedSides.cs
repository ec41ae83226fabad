using Kit.Runner.Results;
using Kit.Runner.Results.Comparing;

namespace Kit.Tests.Results.Comparing;

/// <summary>Two sides that nobody measured: full-dtc as fast as before, shared slower, transactions-off in two rounds alone.</summary>
internal static class InventedSides
{
    private const int Rounds = 6;

    public static Limits Gate => new(Margin.Default, new Margin(0.05));

    public static Limits NoGate => new(Margin.Default, Threshold: null);

    public static RecordedRun Before => Side(shared: 1, "before", '0');

    public static RecordedRun After => Side(shared: 1.12, "after", 'f');

    /// <summary>Drains that take a tenth of a second more from round to round, and a little that belongs to the round.</summary>
    private static RecordedRun Side(double shared, string name, char commit) => new(
        InventedRun.Document with
        {
            CommandLine = "compare --build before --build after",
            Settings = InventedRun.Document.Settings with { Rounds = Rounds },
            Commit = new GitCommit(new string(commit, 40), Dirty: false),
            Build = new BuildFacts($"/kit/{name}", $"1.0.0+{new string(commit, 40)}", new string(commit, 12)),
            Cells = [InventedRun.Cell("full-dtc"), InventedRun.Cell("shared"), InventedRun.Cell("transactions-off")],
        },
        [
            .. Numbers(Rounds).Select(number => InventedRun.Round("full-dtc", number, 4 + (0.1 * number) + Wobble(number, name))),
            .. Numbers(Rounds).Select(number => InventedRun.Round("shared", number, (2 + (0.1 * number) + Wobble(number, name)) * shared)),
            .. Numbers(2).Select(number => InventedRun.Round("transactions-off", number, 1 + (0.1 * number))),
        ]);

    private static IEnumerable<int> Numbers(int count) => Enumerable.Range(1, count);

    private static double Wobble(int number, string name) => 0.01 * (number % 3) * (name is "after" ? 1 : -1);
}
