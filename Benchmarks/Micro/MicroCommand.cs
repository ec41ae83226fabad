using System.CommandLine;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Kit.Runner.Results;
using Kit.Runner.Terminal;

namespace Kit.Benchmarks.Micro;

/// <summary><c>bdn</c>: what the parts of a message cost, by BenchmarkDotNet.</summary>
internal sealed class MicroCommand : Command
{
    private static readonly IReadOnlyList<(string Name, Type Type, string What)> All =
    [
        ("inserts", typeof(InsertOfOneWidget), "One insert with each access library, against a raw prepared command. Its commits do not wait for the disk."),
        ("messages", typeof(OneMessage), $"One message through the bare endpoint on PostgreSQL, one worker, the mean of {OneMessage.Messages} in a row."),
        ("bodies", typeof(IdsAndBodies), "One id, and one body as the bare endpoint writes and reads it."),
    ];

    // Where commits wait for a disk, more iterations take minutes and hardly narrow the error.
    private const int MostIterations = 30;

    private const int LongestCell = 80;

    private readonly Option<int> seedRows = CountOption.SeedRows();
    private readonly Option<string[]> only = NamesOption.Of("--only", "Only these (all).", [.. All.Select(one => one.Name)]);
    private readonly Option<bool> quick = new("--quick") { Description = "BenchmarkDotNet's short job. For a trial: do not cite its figures." };
    private readonly Option<FileInfo?> output = new("--out") { Description = "A new file for the tables, in Markdown.", HelpName = "file" };

    public MicroCommand()
        : base("bdn", $"""
            What the parts of a message cost in time and memory, by BenchmarkDotNet:
            {string.Join(Environment.NewLine, All.Select(one => $"  {one.Name,-9}  {one.What}"))}

            Examples:
              bdn
              bdn --only messages --out messages.md
              bdn --quick --seed-rows 1000      to see that it works
            """)
    {
        Options.Add(only);
        Options.Add(seedRows);
        Options.Add(quick);
        Options.Add(output);
        SetAction((parsed, cancellationToken) => RunAsync(
            [.. All.Where(one => parsed.GetValue(only) is not { Length: > 0 } named || named.Contains(one.Name))],
            parsed.GetValue(seedRows), parsed.GetValue(quick), parsed.GetValue(output), cancellationToken));
    }

    private static async Task<int> RunAsync(
        IReadOnlyList<(string Name, Type Type, string What)> chosen, int seedRows, bool quick, FileInfo? file, CancellationToken cancellationToken)
    {
        if (file is { Exists: true })
            throw new KitException($"The file {file} already exists.", "Give --out the name of a new one.") { IsUsage = true };

        await using var server = await BenchmarkServer.StartAsync(seedRows, Console.Out, cancellationToken);
        // BenchmarkDotNet creates its own instances.
        InsertOfOneWidget.Server = OneMessage.Server = server;

        // In this process: BenchmarkDotNet's own projects need a project file with the name of its assembly, and this tree has none.
        var config = DefaultConfig.Instance
            .WithOrderer(new OneTable())
            .WithSummaryStyle(SummaryStyle.Default.WithMaxParameterColumnWidth(LongestCell))
            .AddJob((quick ? Job.ShortRun : Job.Default.WithMaxIterationCount(MostIterations)).WithToolchain(InProcessEmitToolchain.Instance));
        var summaries = new List<Summary>();
        foreach (var one in chosen)
        {
            // It cannot be cancelled; it ends with this process.
            summaries.Add(await Task.Run(() => BenchmarkRunner.Run(one.Type, config), CancellationToken.None).WaitAsync(cancellationToken));
        }

        if (file is not null)
            await File.WriteAllTextAsync(file.FullName, Report(chosen.Zip(summaries, (one, summary) => (one.What, summary))), cancellationToken);
        return summaries.Exists(summary => summary.HasCriticalValidationErrors || summary.Reports.Any(report => !report.Success))
            ? ExitCode.Failure
            : ExitCode.Success;
    }

    private static string Report(IEnumerable<(string What, Summary Summary)> tables)
    {
        var log = new AccumulationLogger();
        log.WriteLine("# What the parts of a message cost");
        foreach (var (what, summary) in tables)
        {
            log.WriteLine();
            log.WriteLine(what);
            MarkdownExporter.GitHub.ExportToLog(summary, log);
        }

        return log.GetLog();
    }
}
