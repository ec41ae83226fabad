using System.Text.Json;
using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Pages;

/// <summary>A sentence of public documentation, and the experiment that tests it: an entry of docs/claims.json.</summary>
/// <param name="Framework">Framework of the endpoint; <c>bare</c> for a driver's or a server's claim.</param>
/// <param name="Version">The version that the kit ran.</param>
/// <param name="Link">The source of the words.</param>
/// <param name="Experiment">The experiment that tests it: <c>framework/transport/mode fault</c>.</param>
internal sealed record Claim(
    string Framework,
    string Version,
    string Mode,
    [property: JsonPropertyName("claim")] string Words,
    string Link,
    string Experiment)
{
    /// <summary>The file of all claims.</summary>
    public const string File = "docs/claims.json";

    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web) { UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow };

    /// <exception cref="KitException">The experiment is no cell and fault.</exception>
    [JsonIgnore]
    public (string Framework, string Transport, string Mode, string Fault) Tested =>
        Experiment.Split(' ', '/') is [var framework, var transport, var mode, var fault] ? (framework, transport, mode, fault)
        : throw new KitException($"{File}: the experiment '{Experiment}' is not a cell and a fault.", "Write framework/transport/mode fault.");

    /// <exception cref="KitException">It is damaged.</exception>
    public static IReadOnlyList<Claim> Read(string text)
    {
        try
        {
            return JsonSerializer.Deserialize<List<Claim>>(text, Json) ?? [];
        }
        catch (JsonException failure)
        {
            throw new KitException($"Cannot read {File}: {failure.Message}", "Correct it; each entry has the properties of the others.", failure);
        }
    }
}
