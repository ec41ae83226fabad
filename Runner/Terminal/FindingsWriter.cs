using Kit.Runner.Servers;

namespace Kit.Runner.Terminal;

/// <summary>Prints findings as aligned lines, each problem with its remedy below it.</summary>
public static class FindingsWriter
{
    private const string Indent = "         ";

    public static void Write(IReadOnlyList<Finding> findings, TextWriter output)
    {
        var width = findings.Select(finding => finding.Name.Length).DefaultIfEmpty().Max();
        foreach (var finding in findings)
        {
            output.WriteLine($"{WordOf(finding),-9}{finding.Name.PadRight(width)}  {finding.Found}");
            if (finding.Problem is not null)
                output.WriteLine($"{Indent}{finding.Problem}");
            if (finding.Remedy is not null)
                output.WriteLine($"{Indent}→ {finding.Remedy}");
        }

        output.WriteLine();
        output.WriteLine(Summary(findings));
    }

    private static string WordOf(Finding finding) => finding switch
    {
        { Problem: not null } => "problem",
        { IsLeftOut: true } => "left out",
        _ => "ok",
    };

    private static string Summary(IReadOnlyList<Finding> findings) => findings.Count(finding => finding.Problem is not null) switch
    {
        0 => "No problems.",
        1 => $"1 problem{Fatal(findings)}.",
        var count => $"{count} problems{Fatal(findings)}.",
    };

    private static string Fatal(IReadOnlyList<Finding> findings) =>
        findings.Any(finding => finding.IsFatal) ? "; a run cannot start" : "; a run can start, and its results will say so";
}
