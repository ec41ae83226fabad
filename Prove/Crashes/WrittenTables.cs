using System.Text.RegularExpressions;

namespace Kit.Prove.Crashes;

/// <summary>The tables to which the requests of a handling write, named by statements of the file or not.</summary>
internal static partial class WrittenTables
{
    /// <summary>The written tables that no statement names. Their duplicated or missing rows are in no report: a counter has no id of its message.</summary>
    /// <param name="requests">As in a list.</param>
    /// <returns>Each table that no statement names, by the first request that writes to it.</returns>
    public static IEnumerable<string> UnreadIn(IEnumerable<string> requests, IReadOnlyCollection<string> statements) =>
        from request in requests
        from table in In(request)
        where !statements.Any(statement => Names(statement, table))
        group request by table.ToUpperInvariant() into alike
        select alike.First();

    /// <summary>The requests that write to a table that a statement names.</summary>
    /// <inheritdoc cref="UnreadIn" path="/param"/>
    public static IEnumerable<string> ReadIn(IEnumerable<string> requests, IReadOnlyCollection<string> statements) =>
        requests.Where(request => In(request).Any(table => statements.Any(statement => Names(statement, table))));

    private static IEnumerable<string> In(string request) => Written().Matches(request).Select(written => written.Groups["table"].Value);

    /// <summary>True if a statement names a table.</summary>
    // No limit of time: on a busy machine a process can stand still for seconds, and none of these patterns takes exponential time.
    public static bool Names(string statement, string table) => Regex.IsMatch(
        statement, $@"(?<![\p{{L}}\d_]){Regex.Escape(table)}(?![\p{{L}}\d_])", RegexOptions.IgnoreCase, Regex.InfiniteMatchTimeout);

    // SELECT … FOR UPDATE and ON CONFLICT DO UPDATE name no table, and a COPY that writes has FROM. A schema is left out, and quotes are.
    [GeneratedRegex(
        @"(?:\bINSERT\s+INTO|(?<!\b(?:FOR|DO|KEY)\s+)\bUPDATE(?!\s+SET\b)|\bDELETE\s+FROM|\bMERGE\s+INTO|\bCOPY(?=[^(]*?(?:\([^)]*\))?\s*FROM\b))"
        + @"\s+(?:ONLY\s+)?(?:""?[\p{L}_][\p{L}\d_$]*""?\.)?""?(?<table>[\p{L}_][\p{L}\d_$]*)",
        RegexOptions.IgnoreCase, Timeout.Infinite)]
    private static partial Regex Written();
}
