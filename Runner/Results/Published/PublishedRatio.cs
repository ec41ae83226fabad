using System.Text.Json;

namespace Kit.Runner.Results.Published;

/// <summary>Two modes of the bare endpoint in the published results, which are next to the program.</summary>
public static class PublishedRatio
{
    /// <summary>A mode's rate as a multiple of another's, with its cell and its commit.</summary>
    /// <returns><see langword="null"/>: the two have no round in common.</returns>
    public static string? Find(string transport, string mode, string reference)
    {
        using var stored = File.OpenRead(Path.Combine(AppContext.BaseDirectory, "results.json"));
        using var results = JsonDocument.Parse(stored);
        var (one, other) = (RowOf(mode), RowOf(reference));
        if (one is null || other is null || mode == reference)
            return null;

        var (rates, references) = (RatesOf(one.Value), RatesOf(other.Value));
        if (RateRatio.OfPairs([.. rates.Where(rate => references.ContainsKey(rate.Key)).Select(rate => (rate.Value, references[rate.Key]))]) is not { } ratio)
            return null;

        var commit = results.RootElement.GetProperty("commit").GetProperty("id").GetString()![..7];
        return $"{mode} handles {Comparison.OfAll([ratio], Margin.Default)[0].WithoutReading} times the messages of {reference} " +
            $"({one.Value.GetProperty("id").GetString()}, commit {commit}, {results.RootElement.GetProperty("day").GetString()})";

        JsonElement? RowOf(string named) => results.RootElement.GetProperty("rows").EnumerateArray().Cast<JsonElement?>().FirstOrDefault(row =>
            row!.Value.GetProperty("cell") is var cell && Is(cell, "framework", RecordedRun.Floor) && Is(cell, "transport", transport)
            && Is(cell, "mode", named) && Is(cell, "access", "ado"));
    }

    private static bool Is(JsonElement cell, string axis, string value) => cell.TryGetProperty(axis, out var found) && found.GetString() == value;

    private static Dictionary<int, double> RatesOf(JsonElement row) => row.GetProperty("rounds").EnumerateArray()
        .Where(round => round.GetProperty("counts").GetBoolean())
        .ToDictionary(round => round.GetProperty("round").GetInt32(), round => round.GetProperty("perSecond").GetProperty("value").GetDouble());
}
