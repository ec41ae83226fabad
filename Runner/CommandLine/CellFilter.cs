using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Runner.CommandLine;

/// <summary>The four filters that choose cells. Names are checked; an unknown one is answered with those that exist.</summary>
internal sealed class CellFilter
{
    private const string Every = "all";

    private readonly Option<string[]> framework = Filter("--framework", "Only these frameworks.", cell => cell.Kind.Framework);
    private readonly Option<string[]> transport = Filter("--transport", "Only these transports.", cell => cell.Kind.Transport);
    private readonly Option<string[]> mode;
    private readonly Option<string[]> access;
    private readonly bool isMatrix;

    /// <param name="isMatrix">Whether modes and access libraries that are not named are those of the default matrix, rather than all.</param>
    public CellFilter(bool isMatrix)
    {
        this.isMatrix = isMatrix;
        mode = Filter("--mode", $"Only these modes{(isMatrix ? $" ({string.Join(", ", TransactionMode.Matrix)})" : "")}.", cell => cell.Mode.Name);
        access = Filter("--access", $"Only these access libraries{(isMatrix ? " (ado)" : "")}.", cell => cell.Access.Name);
    }

    public IReadOnlyList<Option<string[]>> Options => [framework, transport, mode, access];

    public void AddTo(Command command)
    {
        foreach (var option in Options)
            command.Options.Add(option);
    }

    /// <summary>The matrix: every cell, and one rule for each line.</summary>
    public IReadOnlyList<Cell> Choose(ParseResult parsed) =>
    [
        .. from cell in Cell.All
           where Allows(parsed, framework, cell.Kind.Framework)
           where Allows(parsed, transport, cell.Kind.Transport)
           // The comparisons are measured when they are named.
           where Allows(parsed, mode, cell.Mode.Name, otherwise: !isMatrix || TransactionMode.Matrix.Contains(cell.Mode))
           // The modes are compared with the baseline; access libraries are compared when they are named.
           where Allows(parsed, access, cell.Access.Name, otherwise: !isMatrix || cell.Access.Name == "ado")
           select cell,
    ];

    /// <summary>What was typed of them, to be typed to another runner.</summary>
    public IReadOnlyList<string> Typed(ParseResult parsed) =>
    [
        .. from option in Options
           where parsed.GetValue(option) is { Length: > 0 }
           from word in new[] { option.Name, string.Join(',', parsed.GetValue(option)!) }
           select word,
    ];

    private static Option<string[]> Filter(string name, string description, Func<Cell, string> part) =>
        NamesOption.Of(name, description, [.. Cell.All.Select(part).Distinct(), Every]);

    private static bool Allows(ParseResult parsed, Option<string[]> option, string name, bool otherwise = true) =>
        parsed.GetValue(option) is { Length: > 0 } names ? names.Contains(Every) || names.Contains(name) : otherwise;
}
