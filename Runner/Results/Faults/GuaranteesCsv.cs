using System.Globalization;
using CsvHelper;
using Kit.Guarantees;

namespace Kit.Runner.Results.Faults;

/// <summary>A line for each result: invariant culture, an empty field for an unknown value.</summary>
internal static class GuaranteesCsv
{
    public static void Write(FaultDocument document, IReadOnlyList<FaultResult> results, TextWriter output)
    {
        using var csv = CsvWriter.Create(output, new CsvWriterOptions { NewLine = "\n" }, leaveOpen: true);
        var axes = CellName.AxesOf(results.Select(result => result.Cell));
        csv.WriteHeader(
        [
            .. axes, "msg_per_second", "fault", "verdict", "because", "promised", "observed", "messages",
            .. Enum.GetValues<DeliveryClass>().Select(Words.ColumnOf), "violations", "seconds", "seed", "kills", "cuts", "in_flight",
            "not_once", "at_most", "restart_p50_ms", "restart_max_ms", "returned_before_crash", "handled_again",
        ]);
        foreach (var result in results)
        {
            csv.WriteRecord(
            [
                .. axes.Select(axis => result.Cell.On(axis, document.Implied)), Text(document.Speeds?.Of(result.Cell)), result.Fault,
                Words.Of(result.Verdict), BecauseOf(result), Joined(result.Promised),
                string.Join(' ', result.Observed.Select(seen => $"{Words.Of(seen.Class)}={seen.Messages}")),
                Text(result.Messages), .. Enum.GetValues<DeliveryClass>().Select(kind => result.Counts.TryGetValue(kind, out var count) ? Text(count) : ""),
                Text(result.ViolationCount), result.Seconds.ToString("F1", CultureInfo.InvariantCulture),
                Text(result.Storm?.Seed), Text(result.Storm?.Kills), Text(result.Storm?.Cuts), Text(result.Storm?.InFlight),
                Text(result.Storm?.Touched), Text(result.Storm?.MostTouched), Text(result.Storm?.RestartP50), Text(result.Storm?.RestartMost),
                Text(result.HandledAgain?.Returned), Text(result.HandledAgain?.Again),
            ]);
        }
    }

    private static string? BecauseOf(FaultResult result) => result.Known is { } reason ? $"known: {reason}" : result.Because;

    private static string Joined(IEnumerable<DeliveryClass> classes) => string.Join(' ', classes.Select(Words.Of));

    private static string Text(IConvertible? value) => value?.ToString(CultureInfo.InvariantCulture) ?? "";
}
