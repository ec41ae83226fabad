using Kit.Guarantees;
using Kit.Modes;
using Spectre.Console;

namespace Kit.Runner.Results.Faults;

/// <summary>
/// The findings on every cell: its speed next to the outcome of its messages, each promise next to the observation, and the evidence.
/// </summary>
public sealed class GuaranteeReport(FaultDocument document, IReadOnlyList<FaultResult> results)
{
    /// <summary>The experiments in the order in which they are shown.</summary>
    internal IReadOnlyList<FaultResult> Ordered { get; } =
    [
        .. results
            .OrderBy(result => result.Cell.Framework, StringComparer.Ordinal)
            .ThenBy(result => result.Cell.Transport, StringComparer.Ordinal)
            .ThenBy(result => TransactionMode.All.ToList().FindIndex(mode => mode.Name == result.Cell.Mode))
            // Cells that differ in their settings alone.
            .ThenBy(result => $"{result.Cell}", StringComparer.Ordinal)
            .ThenBy(result => Fault.All.ToList().FindIndex(fault => fault.Name == result.Fault))
            .ThenBy(result => result.Point?.Number)
            .ThenBy(result => result.Point?.Way),
    ];

    /// <summary>Experiments that a command has not finished: it is still running, was stopped, or its process died.</summary>
    public int Outstanding => document.Outstanding.Except(results.Select(result => result.Name)).Count();

    /// <summary>True if there is one more result with an incomplete line: the process ended while saving it.</summary>
    public bool IsOneCut { get; init; }

    internal FaultDocument Document => document;

    public void WriteMarkdown(TextWriter output)
    {
        output.WriteLine($"# Guarantees, {Figures.Moment(document.StartedUtc)}\n");
        foreach (var fact in Facts())
            output.WriteLine($"- {Table.Escaped(fact)}");
        foreach (var table in GuaranteeTables.Of(document, Ordered))
            table.WriteMarkdown(output);
        foreach (var (title, lines) in GuaranteeLists.Of(document, Ordered))
            MarkdownTables.WriteList(title, lines, output);
    }

    public void WriteTerminal(TextWriter output, int width)
    {
        var console = TerminalSummary.ConsoleOn(output, width);
        foreach (var table in GuaranteeTables.Of(document, Ordered))
        {
            table.WriteTerminal(console);
            if (table.Legend.Length > 0)
                console.WriteLine(table.Legend);
        }

        foreach (var lack in Lacks())
            console.WriteLine(lack);
        foreach (var (title, lines) in GuaranteeLists.Of(document, Ordered))
        {
            console.WriteLine();
            console.WriteLine($"{title}:");
            foreach (var line in lines)
                console.WriteLine($"- {line}");
        }
    }

    public void WriteCsv(TextWriter output) => GuaranteesCsv.Write(document, Ordered, output);

    private const string Cut = "An experiment is left out: the process ended while saving its result. Resuming the run repeats it.";

    internal IEnumerable<string> Facts()
    {
        yield return $"Command: {document.CommandLine}";
        foreach (var resumed in document.Resumed ?? [])
            yield return $"Resumed: {Figures.Moment(resumed.AtUtc)}: {resumed.CommandLine}";
        yield return $"Commit: {CommitOf(document.Commit)}";
        yield return $"Machine: {document.Host.CpuModel}, {document.Host.Cores} cores, {document.Host.OperatingSystem}, {document.Host.Runtime}";
        if (document.Servers.Count > 0)
            yield return $"The kit's own servers: {RunFacts.Listed(document.Servers)}";
        yield return $"Packages: {RunFacts.Listed(document.Packages)}";
        if (document.Subscribers is not null)
            yield return $"Handler: {document.Handler}";
        yield return SpeedsOf(document);
        foreach (var lack in Lacks())
            yield return lack;
    }

    internal IEnumerable<string> Lacks()
    {
        if (Outstanding > 0)
        {
            yield return $"INCOMPLETE: at least {Figures.Count(Outstanding)} experiments are outstanding. The command is running, was stopped, or its " +
                "process died. To run them, repeat the command with --out and this folder.";
        }

        if (IsOneCut)
            yield return Cut;
    }

    private static string SpeedsOf(FaultDocument document) => document.Speeds is not { } speeds
        ? "msg/s: no run is named; name one with --speed-from"
        : $"msg/s: means of the fault-free run {speeds.Folder}, {speeds.Handler}, commit {CommitOf(speeds.Commit)}"
          + (speeds.IsOfBuild(document.Commit) ? "" : " – not the build of these experiments");

    private static string CommitOf(GitCommit? commit) => commit is null ? "unknown" : commit.Id[..12] + commit.Changes;
}
