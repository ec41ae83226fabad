using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Text.Json.Serialization.Metadata;

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
        TypeInfoResolver = new DefaultJsonTypeInfoResolver { Modifiers = { LeaveOut } },
    };

    /// <summary>Options for a document that is a line of a file.</summary>
    public static JsonSerializerOptions Lines { get; } = new(Options) { WriteIndented = false };

    /// <summary>
    /// Leaves out properties of the kit's documents, unless they say that they are included: one that is computed, and one that is null although a document
    /// without it can be read, as documents of older kits are.
    /// </summary>
    private static void LeaveOut(JsonTypeInfo type)
    {
        if (type.Type.Assembly != typeof(ResultJson).Assembly)
            return;
        foreach (var property in type.Properties.ToList())
        {
            if (property.AttributeProvider?.IsDefined(typeof(JsonIncludeAttribute), inherit: false) == true)
                continue;
            if (property.Set is null)
                type.Properties.Remove(property);
            else if (!property.IsRequired && property.AssociatedParameter is null)
                property.ShouldSerialize ??= (_, value) => value is not null;
        }
    }
}
