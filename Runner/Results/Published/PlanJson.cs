using System.Text.Json;
using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Published;

/// <summary>The format of files that people write: an unknown or a missing key is an error.</summary>
internal static class PlanJson
{
    public static JsonSerializerOptions Options { get; } = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
        RespectNullableAnnotations = true,
        RespectRequiredConstructorParameters = true,
    };
}
