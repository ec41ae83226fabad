using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Kit.Runner.Results;

/// <summary>How documents are written, and the version of what they hold.</summary>
public static class ResultJson
{
    /// <summary>Raised when a document of today could be misread by the kit of yesterday, or the other way round.</summary>
    public const int Schema = 2;

    /// <summary>Of a document that has a file of its own.</summary>
    public static JsonSerializerOptions Options { get; } = new(JsonSerializerDefaults.General)
    {
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        Converters = { new JsonStringEnumConverter(JsonNamingPolicy.CamelCase) },
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
        RespectNullableAnnotations = true,
        RespectRequiredConstructorParameters = true,
        WriteIndented = true,
        NewLine = "\n",
    };

    /// <summary>Of one that is a line of a file.</summary>
    public static JsonSerializerOptions Lines { get; } = new(Options) { WriteIndented = false };
}
