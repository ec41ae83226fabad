using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;

namespace Kit.Runner.Results;

/// <summary>The format of documents, and the version of their content.</summary>
public static class ResultJson
{
    /// <summary>Increased when an older kit could misread a new document, or a newer kit an old one.</summary>
    public const int Schema = 2;

    /// <summary>Options for a document in a file of its own.</summary>
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

    /// <summary>Options for a document that is a line of a file.</summary>
    public static JsonSerializerOptions Lines { get; } = new(Options) { WriteIndented = false };
}
