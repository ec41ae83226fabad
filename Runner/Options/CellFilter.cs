using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Endpoints.Cells;
using Kit.Runner.Terminal;

namespace Kit.Runner.Options;

/// <summary>A filter for each axis of the matrix. An unknown name is refused with a list of those that exist.</summary>
/// <param name="axes">Axes that have a filter. Any value is allowed on the others.</param>
/// <param name="isMatrix">True if an axis without a filter has the values measured by default, rather than all.</param>
/// <param name="ofRounds">True if there are also filters for scenario and condition, which only measured rounds have.</param>
internal sealed class CellFilter(IEnumerable<Axis> axes, bool isMatrix, bool ofRounds)
{
    /// <summary>The text that stands for every value of an axis.</summary>
    public const string Every = "all";

    private IReadOnlyList<(Axis Axis, Option<string[]> Option)> Filters { get; init; } =
        [.. axes.Select(axis => (axis, Filter(axis, isMatrix)))];

    /// <summary>A filter for each axis that is shown.</summary>
    /// <inheritdoc cref="CellFilter" path="/param"/>
    public CellFilter(bool isMatrix, bool ofRounds)
        : this(Shown(ofRounds), isMatrix, ofRounds)
    {
    }

    /// <summary>A cell's name, as a form to fill in: <c>framework/transport/mode/access[/scenario][/condition]</c>.</summary>
    public static string Form { get; } = string.Concat(
        Axis.All.Where(axis => axis.IsShown).Select((axis, at) => axis.Implied is null ? $"{(at > 0 ? "/" : "")}{axis.Name}" : $"[/{axis.Name}]"));

    /// <summary>Filters for these axes only, among the cells that experiments with faults know.</summary>
    public static CellFilter Of(params IEnumerable<Axis> axes) => new(axes, isMatrix: false, ofRounds: false);

    /// <summary>The axes that have a filter, with or without those of measured rounds.</summary>
    public static IEnumerable<Axis> Shown(bool ofRounds) => Axis.All.Where(axis => axis.IsShown && (ofRounds || !axis.IsOfRounds));

    public void AddTo(Command command)
    {
        foreach (var (_, option) in Filters)
            command.Options.Add(option);
    }

    /// <summary>A copy with one more filter, by an option of the command's own.</summary>
    /// <param name="axis">An axis that only measured rounds have.</param>
    public CellFilter With(Axis axis, Option<string[]> option) => new([], isMatrix, ofRounds)
    {
        Filters = [.. Filters, (axis, option)],
    };

    /// <summary>The options, for a command that shows them in groups.</summary>
    public IReadOnlyList<Option<string[]>> Options => [.. Filters.Select(filter => filter.Option)];

    /// <summary>The cells that every filter allows.</summary>
    public IReadOnlyList<Cell> Choose(ParseResult parsed) =>
    [
        .. from cell in Cell.All
           where Filters.All(filter => Allows(parsed.GetValue(filter.Option), filter.Axis, cell))
           where ofRounds || Axis.All.All(axis => !axis.IsOfRounds || IsFiltered(axis) || axis.HasImplied(cell))
           select cell,
    ];

    /// <summary>The first option that was typed and does not allow a cell; <see langword="null"/> if all do.</summary>
    public string? Refuses(CommandResult result, Cell cell) => Filters
        .Where(filter => result.GetResult(filter.Option) is { Implicit: false, Tokens.Count: > 0 }
            && !Allows(result.GetValue(filter.Option), filter.Axis, cell))
        .Select(filter => filter.Option.Name).FirstOrDefault();

    /// <summary>The filters as typed, to pass on to another runner.</summary>
    public IReadOnlyList<string> Typed(ParseResult parsed) =>
    [
        .. from option in Options
           where parsed.GetValue(option) is { Length: > 0 }
           from word in new[] { option.Name, string.Join(',', parsed.GetValue(option)!) }
           select word,
    ];

    /// <summary>True if a value was named on that axis that names do not leave out.</summary>
    public bool NamesOtherThanImplied(CommandResult result, Axis axis)
    {
        var option = Filters.Single(filter => filter.Axis == axis).Option;
        var implied = axis.Implied is { } value ? axis.Typed(value) : null;
        return result.GetValue(option)?.Any(typed => !string.Equals(typed, implied, StringComparison.Ordinal)) == true;
    }

    private bool IsFiltered(Axis axis) => Filters.Any(filter => filter.Axis == axis);

    private static Option<string[]> Filter(Axis axis, bool isMatrix)
    {
        var measured = isMatrix && axis.Measured is { } some ? $" ({string.Join(", ", some.Select(axis.Typed))})" : "";
        return NamesOption.Of($"--{axis.Name}", $"Only these {axis.Plural}{measured}.", [.. axis.Values.Select(axis.Typed), Every], read: axis.Read);
    }

    private bool Allows(string[]? named, Axis axis, Cell cell) => named is { Length: > 0 }
        ? named.Contains(Every) || named.Contains(axis.Typed(axis.ValueOf(cell)))
        : (!isMatrix && axis.Implied is null) || axis.Measures(cell);
}
