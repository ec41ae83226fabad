using System.Collections.Concurrent;
using System.Text.RegularExpressions;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results.Points;

namespace Kit.Prove.Files;

/// <summary>The tables to which the requests of a handling write, read by effects or not.</summary>
internal static partial class WrittenTables
{
    private const string Function =
        @"(?!pg_|now\b|version\b|set_config\b|current_|txid_|clock_timestamp\b|generate_series\b|unnest\b)[\p{L}_][\p{L}\d_$.""]*\(";

    // A load asks for each row of the log.
    private static readonly ConcurrentDictionary<(string Statement, string Table), bool> Known = new();

    /// <summary>
    /// The written tables that no effect reads. Their duplicated or missing rows are in no report: a counter has no id of its message. A job that is deleted
    /// is missed by nobody, and one that is not is counted as left.
    /// </summary>
    /// <param name="requests">As in a list.</param>
    /// <param name="reads">The statements of effects.</param>
    /// <param name="counts">The statements that count what is left.</param>
    /// <returns>Each table that no effect reads, by the first request that writes to it.</returns>
    public static IEnumerable<string> UnreadIn(IEnumerable<string> requests, IReadOnlyCollection<string> reads, IReadOnlyCollection<string> counts) =>
        from request in requests
        from written in StatementWrites.In(request)
        let table = written.Groups["table"].Value
        let readers = written.Value.StartsWith("DELETE", StringComparison.OrdinalIgnoreCase) ? reads.Concat(counts) : reads
        where !readers.Any(statement => Names(statement, table))
        group request by table.ToUpperInvariant() into alike
        select alike.First();

    /// <summary>The requests that write to a table that an effect reads.</summary>
    /// <inheritdoc cref="UnreadIn" path="/param"/>
    public static IEnumerable<string> ReadIn(IEnumerable<string> requests, IReadOnlyCollection<string> reads) => requests.Where(
        request => StatementWrites.In(request).Any(written => reads.Any(statement => Names(statement, written.Groups["table"].Value))));

    /// <summary>
    /// The requests that are not tried and can write an effect in a function, if no request that is tried writes it: their texts do not name its table.
    /// </summary>
    /// <param name="others">The requests that are not tried.</param>
    public static IEnumerable<string> HiddenIn(IReadOnlyCollection<string> tried, IEnumerable<string> others, IEnumerable<RowEffect> effects)
    {
        List<RowEffect> hidden =
        [
            .. effects.Where(effect => !tried.Any(
                one => Handling.IsTo(one, effect.Database) && (CanHideAWrite(one) || ReadIn([one], [effect.Sql]).Any()))),
        ];
        return others.Where(request => CanHideAWrite(request) && hidden.Exists(effect => Handling.IsTo(request, effect.Database)));
    }

    /// <summary>True if a request executes a function, a procedure, a block or a prepared statement that can write.</summary>
    public static bool CanHideAWrite(string request) => OfAFunction().IsMatch(request);

    /// <summary>True if a statement reads or writes a table. A column of that name, and the word of ORDER BY, is none.</summary>
    public static bool Names(string statement, string table) => Known.GetOrAdd(
        (statement, table),
        one => Regex.IsMatch(
            SortOrGroup().Replace(one.Statement, " WHERE "),
            @"(?:\b(?:FROM|JOIN|INTO|UPDATE|TABLE|USING)\b|\)\s*(?:AS\s+)?[\p{L}\d_""]*\s*,)"
            + @"(?:(?!\b(?:SELECT|WHERE|HAVING|LIMIT|UNION|SET|VALUES|RETURNING)\b)[\s\S])*?"
            + $@"(?<![\p{{L}}\d_$])""?{Regex.Escape(one.Table)}(?![\p{{L}}\d_$])(?!""?\s*\.)",
            RegexOptions.IgnoreCase, Regex.InfiniteMatchTimeout));

    // No limit of time: on a busy machine a process can stand still for seconds, and none of these patterns takes exponential time.
    [GeneratedRegex(@"\b(?:ORDER|GROUP|PARTITION)\s+BY\b", RegexOptions.IgnoreCase, Timeout.Infinite)]
    private static partial Regex SortOrGroup();

    // SELECT handle_next(), and SELECT * FROM handle_next(), which has a row of NULLs if nothing is there. The server's own functions write no effect.
    [GeneratedRegex(
        @"^(?:(?:CALL|DO|EXECUTE)\b|SELECT\s+" + Function + @"(?!.*\bFROM\b)|SELECT\b.*\bFROM\s+" + Function + ")",
        RegexOptions.IgnoreCase, Timeout.Infinite)]
    private static partial Regex OfAFunction();
}
