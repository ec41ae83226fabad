using System.Text.Json.Serialization;

namespace Kit.Runner.Results;

/// <summary>
/// A cell as documents name it: its value on each axis of the matrix, in the axes' order. A name leaves out an axis whose value is the implied
/// one: what every cell was before the axis existed. Documents of before and after then name the same cell.
/// </summary>
[JsonConverter(typeof(CellNameConverter))]
public sealed class CellName : IEquatable<CellName>
{
    private const string FrameworkAxis = "framework";
    private const string TransportAxis = "transport";
    private const string ModeAxis = "mode";

    /// <summary>The axes that every cell names, because reports know what they mean.</summary>
    internal static readonly IReadOnlyList<string> Required = [FrameworkAxis, TransportAxis, ModeAxis];

    /// <param name="values">The axes and the cell's values on them, in order.</param>
    /// <exception cref="ArgumentException">An axis that every cell names is missing, or one is named twice.</exception>
    public CellName(params IEnumerable<(string Axis, string Value)> values)
    {
        Values = [.. values];
        if (Required.Except(Axes, StringComparer.Ordinal).FirstOrDefault() is { } missing)
            throw new ArgumentException($"A cell names its {missing}; these do not: {string.Join(", ", Axes)}.", nameof(values));
        if (Axes.Distinct(StringComparer.Ordinal).Count() != Values.Count)
            throw new ArgumentException($"A cell names each axis once; these do not: {string.Join(", ", Axes)}.", nameof(values));
    }

    public IReadOnlyList<(string Axis, string Value)> Values { get; }

    public IEnumerable<string> Axes => Values.Select(value => value.Axis);

    public string Framework => On(FrameworkAxis)!;

    public string Transport => On(TransportAxis)!;

    public string Mode => On(ModeAxis)!;

    /// <summary>The cell without its mode: what two cells must share for a comparison of their modes.</summary>
    public string Group => string.Join('/', Values.Where(value => value.Axis is not ModeAxis).Select(value => value.Value));

    /// <summary>With dots: the first part of the names of its rounds' graphs and of its experiments.</summary>
    public string FileName => string.Join('.', Values.Select(value => value.Value));

    /// <summary>The cell's value on an axis; <see langword="null"/> where it names none.</summary>
    public string? On(string axis) => Values.FirstOrDefault(value => string.Equals(value.Axis, axis, StringComparison.Ordinal)).Value;

    /// <summary>The same, with what names leave out.</summary>
    /// <param name="axis">The axis.</param>
    /// <param name="implied">What names leave out, by axis, as the cell's document says; <see langword="null"/>: nothing.</param>
    public string? On(string axis, IReadOnlyDictionary<string, string>? implied) => On(axis) ?? implied?.GetValueOrDefault(axis);

    /// <summary>The axes that some of the cells name, in the order of their first appearance.</summary>
    public static IReadOnlyList<string> AxesOf(IEnumerable<CellName> cells) =>
        [.. cells.SelectMany(cell => cell.Axes).Concat(Required).Distinct(StringComparer.Ordinal)];

    /// <summary>The cell next to it on an axis that it names.</summary>
    /// <exception cref="ArgumentException">It does not name the axis.</exception>
    public CellName With(string axis, string value) => On(axis) is null
        ? throw new ArgumentException($"{this} names no {axis}.", nameof(axis))
        : new(Values.Select(own => string.Equals(own.Axis, axis, StringComparison.Ordinal) ? (axis, value) : own));

    /// <summary>The cell whose name leaves an axis out.</summary>
    public CellName Without(string axis) => new(Values.Where(own => !string.Equals(own.Axis, axis, StringComparison.Ordinal)));

    /// <summary>The same cell of another framework.</summary>
    public CellName WithFramework(string framework) => With(FrameworkAxis, framework);

    public bool Equals(CellName? other) => other is not null && Values.SequenceEqual(other.Values);

    public override bool Equals(object? obj) => Equals(obj as CellName);

    public override int GetHashCode() => StringComparer.Ordinal.GetHashCode(ToString());

    public static bool operator ==(CellName? left, CellName? right) => left is null ? right is null : left.Equals(right);

    public static bool operator !=(CellName? left, CellName? right) => !(left == right);

    public override string ToString() => string.Join('/', Values.Select(value => value.Value));
}

/// <summary>A cell that cannot run or was not asked for, and why.</summary>
public sealed record CellLeftOut(CellName Cell, string Because);
