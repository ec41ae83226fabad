using System.Globalization;
using Kit.Guarantees;

namespace Kit.Runner.Results.Faults;

/// <summary>A line for each result: invariant culture, an empty field for an unknown value.</summary>
internal static class GuaranteesCsv
{
    private static readonly IReadOnlyList<(string Name, Func<FaultResult, object?> Value)> Columns =
    [
        ("fault", result => result.Fault),
        ("verdict", result => Words.Of(result.Verdict)),
        ("because", result => result.Known is { } reason ? $"known: {reason}" : result.Because),
        ("promised", result => string.Join(' ', result.Promised.Select(Words.Of))),
        ("observed", result => string.Join(' ', result.Observed.Select(seen => $"{Words.Of(seen.Class)}={seen.Messages}"))),
        ("messages", result => result.Messages),
        .. CellsCsv.ClassesOf<FaultResult>(result => result.Counts),
        ("violations", result => result.MessagesNotPromised),
        ("seconds", result => result.Seconds.ToString("F1", CultureInfo.InvariantCulture)),
        ("seed", result => result.Storm?.Seed),
        ("kills", result => result.Storm?.Kills),
        ("cuts", result => result.Storm?.Cuts),
        ("in_flight", result => result.Storm?.InFlight),
        ("not_once", result => result.Storm?.Touched),
        ("at_most", result => result.Storm?.MostTouched),
        ("restart_p50_ms", result => result.Storm?.RestartP50),
        ("restart_max_ms", result => result.Storm?.RestartMost),
        ("returned_before_crash", result => result.HandledAgain?.Returned),
        ("handled_again", result => result.HandledAgain?.Again),
    ];

    /// <summary>Columns that a file has if a storm has something in them.</summary>
    private static readonly IReadOnlyList<(string Name, Func<FaultResult, object?> Value)> OfSomeStorms =
    [
        ("server_crashes", result => result.Storm?.ServerCrashes is > 0 and var crashes ? crashes : null),
        ("unflushed", result => result.Storm?.Unflushed),
    ];

    public static void Write(FaultDocument document, IReadOnlyList<FaultResult> results, TextWriter output) => CellsCsv.Write(
        results.Select(result => result.Cell), document.Implied,
        [
            ("msg_per_second", result => document.Speeds?.Of(result.Cell)),
            .. Columns,
            .. OfSomeStorms.Where(column => results.Any(result => column.Value(result) is not null)),
        ],
        results.Select(result => (result.Cell, result)), output);
}
