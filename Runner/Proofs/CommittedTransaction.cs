namespace Kit.Runner.Proofs;

/// <summary>A transaction that a server has committed.</summary>
/// <param name="Database">By the name in the file.</param>
/// <param name="Changes">Its rows: <c>public.placed_order: INSERT: id[uuid]:'…'</c>.</param>
internal sealed record CommittedTransaction(string Database, IReadOnlyList<string> Changes)
{
    private const string BeforeTable = "table ";
    private const int MostChanges = 8;
    private const int LongestChange = 160;

    /// <summary>The transactions in the lines of <c>test_decoding</c>.</summary>
    /// <param name="lines">Each with its transaction's id. Those of a transaction are next to each other.</param>
    public static IEnumerable<CommittedTransaction> Of(string database, IEnumerable<(string Transaction, string Line)> lines) =>
        from line in lines
        where line.Line.StartsWith(BeforeTable, StringComparison.Ordinal)
        group line.Line[BeforeTable.Length..] by line.Transaction into changes
        select new CommittedTransaction(database, [.. changes]);

    /// <summary>True if one of its rows has the id of a message.</summary>
    public bool Names(Guid message) => Changes.Any(change => ProofAccount.Names(change, message));

    /// <summary>A line of a report.</summary>
    public override string ToString() => $"committed together in {Database}: {string.Join("; ", Changes.Take(MostChanges).Select(Shortened))}" +
        (Changes.Count > MostChanges ? $"; and {Changes.Count - MostChanges} more rows" : "");

    private static string Shortened(string change) => change.Length > LongestChange ? $"{change[..LongestChange]} …" : change;
}
