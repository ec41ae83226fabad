using System.Text.Json;

namespace Kit.Tests.Html;

/// <summary>docs/reference/commands.md explains results.json.</summary>
public sealed class JsonExplained
{
    /// <summary>Their properties are names of axes, and not of the schema.</summary>
    private static readonly IReadOnlyList<string> Dictionaries = ["axes", "cell"];

    [Test]
    public async Task Every_property_is_on_the_page()
    {
        var page = await File.ReadAllTextAsync(PublishedPage.In("docs/reference/commands.md"));
        using var json = JsonDocument.Parse(await File.ReadAllTextAsync(PublishedPage.Json));

        Assert.That(NamesIn(json.RootElement).Distinct().Where(name => !page.Contains($"`{name}`", StringComparison.Ordinal)), Is.Empty);
    }

    [Test]
    public async Task Its_schema_is_on_the_page()
    {
        using var json = JsonDocument.Parse(await File.ReadAllTextAsync(PublishedPage.Json));

        Assert.That(
            await File.ReadAllTextAsync(PublishedPage.In("docs/reference/commands.md")),
            Does.Contain($"Schema {json.RootElement.GetProperty("schema").GetInt32()}."));
    }

    private static IEnumerable<string> NamesIn(JsonElement element) => element.ValueKind switch
    {
        JsonValueKind.Object => element.EnumerateObject().SelectMany(property =>
            Dictionaries.Contains(property.Name) ? [property.Name] : NamesIn(property.Value).Prepend(property.Name)),
        JsonValueKind.Array => element.EnumerateArray().SelectMany(NamesIn),
        _ => [],
    };
}
