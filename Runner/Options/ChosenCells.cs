using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;

namespace Kit.Runner.Options;

/// <summary>Refuses a choice of cells with which a command cannot begin.</summary>
internal static class ChosenCells
{
    /// <summary>The message if no cell has all the given names.</summary>
    public const string NoSuchCell =
        "There is no such cell: the given names cannot be combined. " +
        "Scenarios and conditions need --access ado, and conditions need --scenario insert. A size needs --scenario insert, insert-and-send, or one that " +
        "inserts no row; several processes need --scenario insert or insert-and-send.";

    /// <summary>Refuses a plan if nothing in it can run.</summary>
    /// <param name="supportOf">Gives the reason why a cell cannot run.</param>
    /// <exception cref="KitException">There is no such cell, or none can run.</exception>
    public static void Require(IReadOnlyList<Cell> cells, IReadOnlyList<Cell> runnable, Func<Cell, Support> supportOf)
    {
        const string remedy = "See 'list' for every cell, and 'doctor' for this machine.";
        if (cells.Count == 0)
            throw new KitException(NoSuchCell, remedy) { IsUsage = true };
        if (runnable.Count == 0)
        {
            var reasons = cells.Select(cell => supportOf(cell).Because).Distinct();
            throw new KitException($"None of the cells can run: {string.Join("; ", reasons)}.", remedy);
        }
    }

    /// <summary>Refuses a plan whose handlers would look for seeded rows, and that seeds none.</summary>
    /// <exception cref="KitException">It is such a plan.</exception>
    public static void RequireRows(IReadOnlyList<Cell> cells, int seedRows)
    {
        if (seedRows == 0 && cells.FirstOrDefault(cell => cell.Scenario.Asks) is { } asking)
        {
            throw new KitException(
                $"The scenario '{asking.Scenario.Name}' looks seeded rows up, and --seed-rows 0 seeds none.",
                "Give --seed-rows 1 or more, or leave the scenario out.")
            { IsUsage = true };
        }
    }
}
