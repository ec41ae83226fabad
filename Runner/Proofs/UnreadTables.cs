using System.Text.RegularExpressions;

namespace Kit.Runner.Proofs;

/// <summary>
/// Requests of a handling that write to a table that no statement of the file names. What is doubled there, or missing, no report shows: a counter has no
/// id of its message.
/// </summary>
internal static partial class UnreadTables
{
    private const int MostMilliseconds = 1_000;

    /// <param name="requests">The requests, as in a list.</param>
    /// <param name="statements">Those of the file.</param>
    /// <returns>Each table with the first request that writes to it.</returns>
    public static IEnumerable<string> Of(IEnumerable<string> requests, IReadOnlyCollection<string> statements) =>
        from request in requests
        from Match written in Written().Matches(request)
        let table = written.Groups["table"].Value
        where !statements.Any(statement => Names(statement, table))
        group request by table.ToUpperInvariant() into alike
        select alike.First();

    private static bool Names(string statement, string table) => Regex.IsMatch(
        statement, $@"(?<![\p{{L}}\d_]){Regex.Escape(table)}(?![\p{{L}}\d_])", RegexOptions.IgnoreCase, TimeSpan.FromMilliseconds(MostMilliseconds));

    // SELECT … FOR UPDATE and ON CONFLICT DO UPDATE name no table, and a COPY that writes has FROM. A schema is left out, and quotes are.
    [GeneratedRegex(
        @"(?:\bINSERT\s+INTO|(?<!\b(?:FOR|DO|KEY)\s+)\bUPDATE(?!\s+SET\b)|\bDELETE\s+FROM|\bMERGE\s+INTO|\bCOPY(?=[^(]*?(?:\([^)]*\))?\s*FROM\b))"
        + @"\s+(?:ONLY\s+)?(?:""?[\p{L}_][\p{L}\d_$]*""?\.)?""?(?<table>[\p{L}_][\p{L}\d_$]*)",
        RegexOptions.IgnoreCase, MostMilliseconds)]
    private static partial Regex Written();
}
