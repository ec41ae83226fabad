namespace Kit.Runner.Results;

/// <summary>The cells that were left out: each reason once, with all its cells.</summary>
internal static class LeftOutLines
{
    public static IReadOnlyList<string> Of(IEnumerable<CellLeftOut> cells) =>
        [.. cells.GroupBy(left => left.Because).Select(same => $"{string.Join(", ", same.Select(left => left.Cell))}: {same.Key}")];
}
