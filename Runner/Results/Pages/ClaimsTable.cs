using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Guarantees;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Published;

namespace Kit.Runner.Results.Pages;

/// <summary>The claims of documentation that an experiment in the folders tests, next to what it observed: a line for each.</summary>
internal static class ClaimsTable
{
    public static BlockText Write(BlockSources sources)
    {
        var experiments = sources.Experiments;
        return new BlockText(
        [
            .. from claim in Claim.Read(sources.TextOf(Claim.File)) let made = ResultOf(claim, experiments) where made is not null select LineOf(claim, made),
            "",
            $"Observed in {string.Join(", ", experiments.Select(sources.LinkTo))}.",
        ]);
    }

    /// <summary>The experiment that tests a claim, and shows something; <see langword="null"/> if none of the folders has it.</summary>
    internal static FaultResult? ResultOf(Claim claim, IReadOnlyList<FaultSource> experiments) => experiments.SelectMany(folder => folder.Results)
        .FirstOrDefault(result => IsOf(claim, result) && result.Verdict.IsConclusive() && !result.IsWeakened);

    /// <summary>The observation of an experiment.</summary>
    internal static string ObservedOf(FaultResult result) =>
        string.Join(", ", result.Observed.Select(seen => $"{Words.Of(seen.Class)} {Figures.Count(seen.Messages)}"));

    private static string LineOf(Claim claim, FaultResult made) =>
        $"- {claim.Version}: “{claim.Words}” ([source]({claim.Link})) → {ObservedOf(made)}, by " +
        $"`{claim.Tested.Framework}/{claim.Tested.Transport}/{claim.Tested.Mode}` `{claim.Tested.Fault}`";

    private static bool IsOf(Claim claim, FaultResult result) =>
        ShownCells.IsPlain(result.Cell) && (result.Cell.Framework, result.Cell.Transport, result.Cell.Mode, result.Fault) == claim.Tested;
}

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
            return JsonSerializer.Deserialize<List<Claim>>(text, PlanJson.Options) ?? [];
        }
        catch (JsonException failure)
        {
            throw new KitException($"Cannot read {File}: {failure.Message}", "Correct it; each entry has the properties of the others.", failure);
        }
    }
}
