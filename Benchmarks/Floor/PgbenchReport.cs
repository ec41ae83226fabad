using System.Text.RegularExpressions;
using Kit.Runner.Results;

namespace Kit.Benchmarks.Floor;

/// <summary>The report that pgbench ends with.</summary>
/// <param name="Processed">Transactions that were run: runs of the script.</param>
/// <param name="Failed">Those that failed; <see langword="null"/> for versions before 15, which do not report them.</param>
/// <param name="PerSecond">Transactions per second, without the time to connect.</param>
internal sealed partial record PgbenchReport(int Processed, int? Failed, double PerSecond)
{
    /// <exception cref="KitException">The text is not pgbench's.</exception>
    public static PgbenchReport Parse(string text)
    {
        var (processed, failed, rate) = (ProcessedLine().Match(text), FailedLine().Match(text), RateLine().Match(text));
        if (!processed.Success || !rate.Success)
            throw new KitException(
                $"Expected pgbench's number of transactions and its tps without connecting, found: {text.Trim()}",
                "Use the pgbench of PostgreSQL 13 or newer.");

        return new PgbenchReport(
            int.Parse(processed.Groups["count"].ValueSpan),
            failed.Success ? int.Parse(failed.Groups["count"].ValueSpan) : null,
            double.Parse(rate.Groups["rate"].ValueSpan));
    }

    [GeneratedRegex(
        @"^number of transactions actually processed: (?<count>\d+)",
        RegexOptions.ExplicitCapture | RegexOptions.Multiline,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex ProcessedLine();

    [GeneratedRegex(@"^number of failed transactions: (?<count>\d+)", RegexOptions.ExplicitCapture | RegexOptions.Multiline, matchTimeoutMilliseconds: 1000)]
    private static partial Regex FailedLine();

    // Version 13 words it differently from later ones.
    [GeneratedRegex(
        @"^tps = (?<rate>[\d.]+) \((without initial connection time|excluding connections establishing)\)",
        RegexOptions.ExplicitCapture | RegexOptions.Multiline,
        matchTimeoutMilliseconds: 1000)]
    private static partial Regex RateLine();
}
