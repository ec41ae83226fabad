using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>
/// A cell as documents name it: its value on each axis of the matrix, in the axes' order. A name leaves out an axis if the value is the implied
/// one, which every cell had before the axis existed. So older and newer documents give a cell the same name.
/// </summary>
[JsonConverter(typeof(CellNameConverter))]
public sealed class CellName : IEquatable<CellName>
{
    /// <summary>The axes that every cell must name, because reports use them.</summary>
    internal static readonly IReadOnlyList<string> Required = [AxisName.Framework, AxisName.Transport, AxisName.Mode];

    /// <param name="values">In the order of the axes; or the service alone.</param>
    /// <exception cref="ArgumentException">A required axis is missing, or one is named twice.</exception>
    public CellName(params IEnumerable<(string Axis, string Value)> values)
    {
        Values = [.. values];
        if (!IsService && Required.Except(Axes, StringComparer.Ordinal).FirstOrDefault() is { } missing)
            throw new ArgumentException($"A cell must name its {missing}; found only: {string.Join(", ", Axes)}.", nameof(values));
        if (Axes.Distinct(StringComparer.Ordinal).Count() != Values.Count)
            throw new ArgumentException($"A cell must name each axis once; found: {string.Join(", ", Axes)}.", nameof(values));
    }

    public IReadOnlyList<(string Axis, string Value)> Values { get; }

    public IEnumerable<string> Axes => Values.Select(value => value.Axis);

    /// <summary>True if it is a user's service, and no cell of the matrix.</summary>
    public bool IsService => Axes.SequenceEqual([AxisName.Service]);

    public string Framework => On(AxisName.Framework)!;

    public string Transport => On(AxisName.Transport)!;

    public string Mode => On(AxisName.Mode)!;

    /// <summary>The cell without its mode: two cells must share this if their modes are to be compared.</summary>
    public string Group => string.Join('/', Values.Where(value => value.Axis is not AxisName.Mode).Select(value => value.Value));

    /// <summary>The name with dots, with which the names of its rounds' graphs and of its experiments begin.</summary>
    public string FileName => string.Join('.', Values.Select(value => value.Value));

    /// <summary>The cell's value on an axis; <see langword="null"/> if it does not name the axis.</summary>
    public string? On(string axis) => Values.FirstOrDefault(value => string.Equals(value.Axis, axis, StringComparison.Ordinal)).Value;

    /// <summary>The cell's value on an axis, including the values that names leave out.</summary>
    /// <param name="implied">The values that names leave out, by axis, from the cell's document; <see langword="null"/>: none.</param>
    public string? On(string axis, IReadOnlyDictionary<string, string>? implied) => On(axis) ?? implied?.GetValueOrDefault(axis);

    /// <summary>The axes that any of the cells names, in the order of their first appearance.</summary>
    public static IReadOnlyList<string> AxesOf(IEnumerable<CellName> cells) =>
        [.. cells.SelectMany(cell => cell.Axes).Concat(cells.Any(cell => cell.IsService) ? [] : Required).Distinct(StringComparer.Ordinal)];

    /// <summary>A user's service, where a cell is expected.</summary>
    public static CellName OfService(string name) => new((AxisName.Service, name));

    /// <summary>The cell with another value on an axis that it names.</summary>
    /// <exception cref="ArgumentException">It does not name the axis.</exception>
    public CellName With(string axis, string value) => On(axis) is null
        ? throw new ArgumentException($"{this} does not name its {axis}.", nameof(axis))
        : new(Values.Select(own => string.Equals(own.Axis, axis, StringComparison.Ordinal) ? (axis, value) : own));

    /// <summary>The cell without an axis in its name.</summary>
    public CellName Without(string axis) => new(Values.Where(own => !string.Equals(own.Axis, axis, StringComparison.Ordinal)));

    /// <summary>The cell with another framework.</summary>
    public CellName WithFramework(string framework) => With(AxisName.Framework, framework);

    public bool Equals(CellName? other) => other is not null && Values.SequenceEqual(other.Values);

    public override bool Equals(object? obj) => Equals(obj as CellName);

    public override int GetHashCode() => StringComparer.Ordinal.GetHashCode(ToString());

    public static bool operator ==(CellName? left, CellName? right) => left is null ? right is null : left.Equals(right);

    public static bool operator !=(CellName? left, CellName? right) => !(left == right);

    public override string ToString() => string.Join('/', Values.Select(value => value.Value));
}

/// <summary>A cell that cannot run or was not requested, with the reason.</summary>
public sealed record CellLeftOut(CellName Cell, string Because)
{
    /// <summary>True if the run was to measure it and could not, which makes its exit code 1. Absent otherwise, and in runs of earlier versions.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool IsRefused { get; init; }

    /// <summary>The cells that were left out: each reason once, with all its cells.</summary>
    internal static IReadOnlyList<string> LinesOf(IEnumerable<CellLeftOut> cells) =>
        [.. cells.GroupBy(left => left.Because).Select(same => $"{string.Join(", ", same.Select(left => left.Cell))}: {same.Key}")];
}

/// <summary>A cell's name as an object with a property for each axis, in order.</summary>
public sealed class CellNameConverter : JsonConverter<CellName>
{
    public override CellName Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options)
    {
        using var document = JsonDocument.ParseValue(ref reader);
        if (document.RootElement.ValueKind is not JsonValueKind.Object)
            throw new JsonException("A cell must be an object with a property for each axis.");
        try
        {
            return new CellName(document.RootElement.EnumerateObject().Select(axis => (axis.Name, ValueOf(axis))));
        }
        catch (ArgumentException wrong)
        {
            throw new JsonException(wrong.Message, wrong);
        }
    }

    public override void Write(Utf8JsonWriter writer, CellName value, JsonSerializerOptions options)
    {
        writer.WriteStartObject();
        foreach (var (axis, name) in value.Values)
            writer.WriteString(axis, name);
        writer.WriteEndObject();
    }

    private static string ValueOf(JsonProperty axis) => axis.Value.ValueKind is JsonValueKind.String
        ? axis.Value.GetString()!
        : throw new JsonException($"A cell's {axis.Name} must be a name.");
}
