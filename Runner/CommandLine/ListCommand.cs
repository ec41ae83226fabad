using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Rounds;
using Kit.Runner.Servers;

namespace Kit.Runner.CommandLine;

/// <summary><c>list</c>: every cell, runnable or not.</summary>
internal sealed class ListCommand : KitCommand
{
    private readonly CellFilter filter = new(isMatrix: false);

    public ListCommand()
        : base(
            "list",
            "Lists every cell (framework, transport, mode, access library), and why those that cannot run cannot.",
            ("list", "every cell"),
            ("list --mode full-dtc --access ado", "who can run full-dtc"))
    {
        filter.AddTo(this);
        SetAction(List);
    }

    private int List(ParseResult parsed)
    {
        var cells = filter.Choose(parsed);
        Write(cells, isSqlServerNamed: ConnectionStrings.IsNamed(ConnectionStrings.SqlServerVariable), Console.Out);
        return ExitCode.Success;
    }

    internal static void Write(IReadOnlyList<Cell> cells, bool isSqlServerNamed, TextWriter output)
    {
        if (cells.Count == 0)
        {
            output.WriteLine("There is no such cell: no framework, transport, mode and access library that were named go together.");
            return;
        }

        var widths = new Func<Cell, string>[] { cell => cell.Kind.Framework, cell => cell.Kind.Transport, cell => cell.Mode.Name, cell => cell.Access.Name }
            .Select(part => (Part: part, Width: cells.Max(cell => part(cell).Length)))
            .ToList();
        foreach (var cell in cells)
            output.WriteLine($"{string.Join("  ", widths.Select(column => column.Part(cell).PadRight(column.Width)))}  {SupportOf(cell).Because ?? "can run"}");

        output.WriteLine();
        output.WriteLine($"{cells.Count(cell => SupportOf(cell).IsSupported)} of {cells.Count} cells can run.");

        // The other servers are the kit's own where none is named.
        Support SupportOf(Cell cell) =>
            cell is { Support.IsSupported: true, Kind.Transport: TransportName.SqlServer } && !isSqlServerNamed ? RunPlan.NoSqlServer : cell.Support;
    }
}
