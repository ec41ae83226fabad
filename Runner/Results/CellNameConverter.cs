using System.Text.Json;
using System.Text.Json.Serialization;

namespace Kit.Runner.Results;

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
