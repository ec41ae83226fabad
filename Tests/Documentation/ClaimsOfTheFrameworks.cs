using System.Text.Json;
using System.Text.Json.Serialization;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Tests.Results.Documentation;

namespace Kit.Tests.Documentation;

/// <summary>docs/claims.json is where a claim is written; the page shows it next to what was observed.</summary>
public sealed class ClaimsOfTheFrameworks
{
    private const string NotMade = "not in a published folder";

    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web) { UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow };

    private static readonly IReadOnlyList<Claim> Claims =
        JsonSerializer.Deserialize<List<Claim>>(File.ReadAllText(Path.Combine(RepositoryFiles.Root, "docs", "claims.json")), Json)!;

    [Test]
    public void Each_is_complete_and_has_a_source()
    {
        foreach (var claim in Claims)
        {
            Assert.That(new[] { claim.Version, claim.Claims }, Has.All.Not.Empty, claim.ToString());
            Assert.That(Uri.TryCreate(claim.Link, UriKind.Absolute, out var link) && link.Scheme is "https", Is.True, claim.Link);
        }
    }

    [Test]
    public void Each_names_what_there_is()
    {
        foreach (var claim in Claims)
        {
            var (framework, transport, mode) = claim.Cell;
            Assert.That(Kinds, Has.Some.Matches<IEndpointKind>(kind => kind.Framework == claim.Framework), claim.ToString());
            Assert.That(Kinds, Has.Some.Matches<IEndpointKind>(kind => kind.Framework == framework && kind.Transport == transport), claim.ToString());
            Assert.That(TransactionMode.All.Select(known => known.Name), Does.Contain(claim.Mode).And.Contain(mode));
            Assert.That(Fault.All.Select(fault => fault.Name).Append(StormFacts.Name), Does.Contain(claim.Fault));
        }
    }

    [Test]
    public void The_page_shows_each_and_no_other()
    {
        var rows = new MarkdownPage("docs/claims.md").TableOf("claims").Skip(1);

        Assert.That(rows.Select(row => string.Join(" | ", row)), Is.EqualTo(Claims.Select(claim => string.Join(" | ", RowOf(claim)))));
    }

    private static IEnumerable<IEndpointKind> Kinds => EndpointKinds.All;

    private static IEnumerable<string> RowOf(Claim claim)
    {
        var (framework, transport, mode) = claim.Cell;
        return
        [
            claim.Version,
            $"`{claim.Mode}`",
            $"“{claim.Claims}” ([source]({claim.Link}))",
            $"`{framework}/{transport}/{mode}` `{claim.Fault}`",
            ObservedOf(claim),
        ];
    }

    private static string ObservedOf(Claim claim)
    {
        var (framework, transport, mode) = claim.Cell;
        var made = new FaultFolder(Path.Combine(RepositoryFiles.Root, "results", "guarantees")).LoadResults().SingleOrDefault(result =>
            result.Cell.Framework == framework && result.Cell.Transport == transport && result.Cell.Mode == mode && result.Fault == claim.Fault);
        return made is null ? NotMade : string.Join(", ", made.Observed.Select(observation => $"{Words.Of(observation.Class)} {observation.Messages}"));
    }

    /// <param name="Framework">Whose endpoint the claim is about; <c>bare</c> for a driver's or a server's.</param>
    /// <param name="Version">What the kit ran.</param>
    /// <param name="Mode">The mode that it is about.</param>
    /// <param name="Claims">The words.</param>
    /// <param name="Link">Where they stand.</param>
    /// <param name="Experiment">What tests it: <c>framework/transport/mode fault</c>.</param>
    private sealed record Claim(
        string Framework,
        string Version,
        string Mode,
        [property: JsonPropertyName("claim")] string Claims,
        string Link,
        string Experiment)
    {
        public (string Framework, string Transport, string Mode) Cell =>
            Experiment.Split(' ', '/') is [var framework, var transport, var mode, _]
                ? (framework, transport, mode)
                : throw new FormatException($"The experiment '{Experiment}' is not a cell and a fault: framework/transport/mode fault.");

        public string Fault => Experiment[(Experiment.IndexOf(' ', StringComparison.Ordinal) + 1)..];
    }
}
