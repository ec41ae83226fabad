using Kit.Endpoints.Cells;
using Kit.Runner.Results;

namespace Kit.Runner.Rounds;

/// <summary>What a run sets out to do, as its command line says.</summary>
/// <param name="Cells">The cells that were asked for, runnable or not.</param>
/// <param name="Sizes">How much of everything.</param>
/// <param name="PostgreSql">The server to use; <see langword="null"/> for one of the kit's own.</param>
/// <param name="RepeatNoisy">Whether noisy rounds are run once more at the end.</param>
/// <param name="Folder">Where the results go.</param>
/// <param name="CommandLine">The command as it was typed, secrets masked.</param>
internal sealed record RunPlan(
    IReadOnlyList<Cell> Cells, RunSettings Sizes, string? PostgreSql, bool RepeatNoisy, string Folder, string CommandLine)
{
    public IReadOnlyList<Cell> Runnable => [.. Cells.Where(cell => cell.Support.IsSupported)];

    /// <summary>Every round of the run: round <i>r</i> has every cell once, in an order drawn from the order seed.</summary>
    public IEnumerable<(Cell Cell, int Round)> Order()
    {
        var random = new Random(Sizes.OrderSeed);
        for (var round = 1; round <= Sizes.Rounds; round++)
        {
            var cells = Runnable.ToArray();
            random.Shuffle(cells);
            foreach (var cell in cells)
                yield return (cell, round);
        }
    }
}
