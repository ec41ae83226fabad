using System.Text.Json;
using Kit.Modes;

namespace Kit.Runner.Results.Published;

/// <summary>Two modes of the bare endpoint in the published results, which are next to the program.</summary>
public static class PublishedRatio
{
    /// <summary>A mode's rate as a multiple of another's, with its cell and its commit.</summary>
    /// <returns><see langword="null"/>: no two cells differ in these modes alone, or several do, or the two have no round in common.</returns>
    public static string? Find(string transport, string mode, string reference)
    {
        using var stored = File.OpenRead(Path.Combine(AppContext.BaseDirectory, "results.json"));
        return FindIn(stored, transport, mode, reference);
    }

    /// <inheritdoc cref="Find"/>
    /// <param name="stored">The published results, as JSON.</param>
    internal static string? FindIn(Stream stored, string transport, string mode, string reference)
    {
        using var results = JsonDocument.Parse(stored);
        var rows = results.RootElement.GetProperty("rows").EnumerateArray()
            .Select(row => (Cell: row.GetProperty("cell").Deserialize<CellName>()!, Row: row))
            .Where(row => row.Cell is { Framework: RecordedRun.Floor } && row.Cell.Transport == transport && row.Cell.On(AxisName.Access) == "ado").ToList();
        // Their rounds are paired by number, which says nothing about cells with other handlers or settings.
        var pairs =
            (from one in rows
             from other in rows
             where one.Cell.Mode == mode && other.Cell.Mode == reference && one.Cell.Group == other.Cell.Group
             select (One: one.Row, Other: other.Row)).ToList();
        if (mode == reference || pairs is not [var pair])
            return null;

        var (rates, references) = (RatesOf(pair.One), RatesOf(pair.Other));
        if (RateRatio.OfPairs([.. rates.Where(rate => references.ContainsKey(rate.Key)).Select(rate => (rate.Value, references[rate.Key]))]) is not { } ratio)
            return null;

        var commit = results.RootElement.GetProperty("commit").GetProperty("id").GetString()![..7];
        return $"{mode} handles {Comparison.OfAll([ratio], Margin.Default)[0].WithoutReading} times the messages of {reference} " +
            $"({pair.One.GetProperty("id").GetString()}, commit {commit}, {results.RootElement.GetProperty("day").GetString()})";
    }

    private static Dictionary<int, double> RatesOf(JsonElement row) => row.GetProperty("rounds").EnumerateArray()
        .Where(round => round.GetProperty("counts").GetBoolean())
        .ToDictionary(round => round.GetProperty("round").GetInt32(), round => round.GetProperty("perSecond").GetProperty("value").GetDouble());
}
