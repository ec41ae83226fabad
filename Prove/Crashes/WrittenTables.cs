using System.Text.RegularExpressions;
using Kit.Runner.Results.Points;

namespace Kit.Prove.Crashes;

/// <summary>The tables to which the requests of a handling write, read by effects or not.</summary>
internal static class WrittenTables
{
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

    /// <summary>True if a statement names a table.</summary>
    // No limit of time: on a busy machine a process can stand still for seconds, and none of these patterns takes exponential time.
    public static bool Names(string statement, string table) => Regex.IsMatch(
        statement, $@"(?<![\p{{L}}\d_]){Regex.Escape(table)}(?![\p{{L}}\d_])", RegexOptions.IgnoreCase, Regex.InfiniteMatchTimeout);
}
