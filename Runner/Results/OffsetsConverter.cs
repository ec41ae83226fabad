using System.Globalization;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Kit.Runner.Results;

/// <summary>Milliseconds with three decimals, all on one line: ten thousand lines of offsets would bury what stands around them.</summary>
public sealed class OffsetsConverter : JsonConverter<IReadOnlyList<double>>
{
    public override IReadOnlyList<double> Read(ref Utf8JsonReader reader, Type typeToConvert, JsonSerializerOptions options) =>
        JsonSerializer.Deserialize<double[]>(ref reader, options) ?? throw new JsonException("Offsets are missing.");

    public override void Write(Utf8JsonWriter writer, IReadOnlyList<double> value, JsonSerializerOptions options) =>
        writer.WriteRawValue($"[{string.Join(", ", value.Select(offset => offset.ToString("0.###", CultureInfo.InvariantCulture)))}]");
}
