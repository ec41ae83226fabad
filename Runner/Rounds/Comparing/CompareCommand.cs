using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Results.Comparing;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.Rounds.Comparing;

/// <summary><c>compare</c>: is this build slower than that one?</summary>
internal sealed class CompareCommand : KitCommand
{
    private const int Sides = 2;

    private readonly CellFilter filter = new(isMatrix: true, ofRounds: true);
    private readonly Argument<string[]> folders = new("folder")
    {
        Description = "Two folders of results, of 'run' or 'faults': before and after.",
        Arity = new ArgumentArity(0, Sides),
    };
    private readonly Option<string[]> build = new("--build")
    {
        Description = "A folder with a built runner; give it twice, before and after. Both run alternately, on the same servers.",
        HelpName = "folder",
    };
    private readonly Option<double?> threshold = NumberOption.Percent(
        "--threshold", "A cell slower by more than this is a regression: exit code 3 (default: none is).");
    private readonly Option<double?> margin = NumberOption.Percent(
        "--margin", "By how much a cell must differ to be called faster or slower (3).");
    private readonly Option<string?> markdown = new("--markdown")
    {
        Description = "A file for the report as Markdown, for a pull request.",
        HelpName = "file",
    };
    private readonly Option<string?> reference = new("--reference")
    {
        Description = "For two runs: the cell that all others are compared with (the strictest mode on the same framework and transport).",
        HelpName = CellFilter.Form,
    };
    private readonly Option<int?> rounds = NumberOption.Count("--rounds", "Rounds of each cell on each side (10).", least: 1);
    private readonly Option<int?> messages = NumberOption.Count("--messages", "Messages of each measured drain (10000).", least: 1);
    private readonly Option<int?> seedRows = NumberOption.Count(
        "--seed-rows", "Rows in the widgets' table before each round (1000000).", least: 0);
    private readonly Option<int?> warmUp = NumberOption.Count(
        "--warmup", "Messages drained before the clock starts, in the same process (1000).", least: 0);
    private readonly Option<int?> concurrency = NumberOption.Count(
        "--concurrency", $"Messages handled at the same time ({HandlerOptions.DefaultConcurrency}).", least: 1, most: HandlerOptions.MostConcurrency);
    private readonly Option<int?> orderSeed = NumberOption.Count(
        "--order-seed", "Seed for the order of cells and builds (random, and printed).", least: 0);
    private readonly Option<string?> output = Out(
        "A new folder for the rounds of both builds and the report (results/compare- and the time).");
    private readonly Option<bool> noDurability = NoDurability();
    private readonly TransportOptions servers = TransportOptions.Servers();
    private readonly IReadOnlyList<string> arguments;

    public CompareCommand(IReadOnlyList<string> arguments)
        : base(
            "compare",
            "Says whether one build is slower than another, cell by cell: runs both alternately, round by round, and judges the ratios. " +
            "Or compares two stored runs, or two folders of 'faults'. Exit codes: 0 no regression, 1 nothing could be " +
            "compared, a round was INVALID, with --threshold a cell of before could not be judged, a side of 'faults' is not finished or the " +
            "command failed, 2 the command line is wrong, 3 a regression: a cell slower than --threshold allows, or a newly " +
            "broken promise.",
            (
                "compare --build ../main/Runner/bin/Release/net10.0 --build Runner/bin/Release/net10.0",
                "is this checkout slower than that one?"),
            ("compare --build ../main/… --build … --mode full-dtc --transport postgresql --rounds 20", "one cell in detail"),
            ("compare --build ../main/… --build … --threshold 5 --markdown compare.md", "a gate for a pull request, and its table"),
            ("compare results/before results/after", "two stored runs, by each cell's ratio to the strictest mode"),
            ("compare results/faults-before results/faults-after", "which promises are no longer kept"))
    {
        this.arguments = arguments;
        Arguments.Add(folders);
        Options.Add(build);
        filter.AddTo(this);
        foreach (var option in new Option[] { threshold, margin, markdown, reference }.Concat(OfBuilds()))
            Options.Add(option);
        markdown.NotEmpty();
        reference.NotEmpty();
        Validators.Add(CheckSides);
        Validators.Add(CheckLimits);
        SetAction(CompareAsync);
    }

    private IEnumerable<Option> OfBuilds() =>
        [rounds, messages, seedRows, warmUp, concurrency, orderSeed, output, noDurability, .. servers.All];

    private async Task<int> CompareAsync(ParseResult parsed, CancellationToken cancellationToken) =>
        parsed.GetValue(build) is [var before, var after]
            ? await CompareAsync(Plan(parsed, before, after), parsed.GetValue(markdown), cancellationToken)
            : Compare(parsed.GetValue(folders)!, parsed);

    private static async Task<int> CompareAsync(ComparePlan plan, string? markdownFile, CancellationToken cancellationToken)
    {
        var console = Console.Out;
        await console.WriteLineAsync(
            $"Rounds of each cell and build: {plan.Sizes.Rounds}. Order seed: {plan.Sizes.OrderSeed}. Results: {plan.Folder}");
        if (plan.Before.Fingerprint == plan.After.Fingerprint)
            await console.WriteLineAsync("The two builds are identical, byte for byte: any difference is chance.");
        PairedBuilds? builds = null;
        try
        {
            var report = await TerminalDisplay.ShowAsync(MeasureAsync);
            Write(report, markdownFile);
            await console.WriteLineAsync($"\nThe report: {plan.ReportPath}");
            return CodeOf(report, isFailed: builds!.IsCellRefused);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await console.WriteLineAsync(builds is null or { Finished: 0 }
                ? "Stopped before any pair of rounds had finished."
                : $"Stopped. Finished pairs of rounds: {builds.Finished}, kept in {plan.Folder}; an incomplete report on them: "
                  + plan.ReportPath);
            return ExitCode.Interrupted;
        }

        Task<ComparisonReport> MeasureAsync(IRunDisplay display) => (builds = new PairedBuilds(plan, display)).RunAsync(cancellationToken);
    }

    private int Compare(string[] sides, ParseResult parsed)
    {
        var report = new StoredSides(sides[0], sides[1]).Compare(
            parsed.GetValue(reference), LimitsOf(parsed), ServerOption.Masked(arguments, TransportArguments.None));
        Write(report, parsed.GetValue(markdown));
        return CodeOf(report, isFailed: false);
    }

    private static void Write(ComparisonReport report, string? markdownFile)
    {
        report.WriteTerminal(Console.Out, Width);
        if (markdownFile is not null)
            WholeFile.Write(markdownFile, report.WriteMarkdown);
    }

    // A regression is worse than a failed round, and decides the exit code.
    private static int CodeOf(ComparisonReport report, bool isFailed) =>
        report.HasRegression ? ExitCode.Regression : isFailed || report.IsUnsound ? ExitCode.Failure : ExitCode.Success;

    private ComparePlan Plan(ParseResult parsed, string before, string after)
    {
        var transports = TransportOptions.Read(parsed, servers).WithMemory(parsed.GetValue(noDurability));
        return new ComparePlan(
            Build.Open(before),
            Build.Open(after),
            filter.Typed(parsed),
            filter.Choose(parsed).Select(Transport.Of).ToHashSet(),
            new RunSettings(
                Messages: parsed.GetValue(messages) ?? 10_000,
                Rounds: parsed.GetValue(rounds) ?? 10,
                Concurrency: parsed.GetValue(concurrency) ?? HandlerOptions.DefaultConcurrency,
                SeedRows: parsed.GetValue(seedRows) ?? 1_000_000,
                WarmUp: parsed.GetValue(warmUp) ?? 1_000,
                OrderSeed: parsed.GetValue(orderSeed) ?? Random.Shared.Next(1_000_000),
                Quick: false),
            transports,
            LimitsOf(parsed),
            parsed.GetValue(output) ?? Path.Combine("results", $"compare-{DateTime.UtcNow:yyyyMMdd-HHmmss}"),
            ServerOption.Masked(arguments, transports));
    }

    private Limits LimitsOf(ParseResult parsed) => new(
        parsed.GetValue(margin) is { } share ? new Margin(share) : Margin.Default,
        parsed.GetValue(threshold) is { } most ? new Margin(most) : null);

    private void CheckSides(CommandResult result)
    {
        var (builds, stored) = (result.GetValue(build) ?? [], result.GetValue(folders) ?? []);
        if ((builds.Length, stored.Length) is not ((Sides, 0) or (0, Sides)))
        {
            result.AddError(
                $"expected two builds (--build twice) or two folders of results, found {builds.Length} and {stored.Length}.");
            return;
        }

        foreach (var reason in builds.Select(Build.WhyNot).OfType<string>())
            result.AddError($"--build: {reason}.");
        if (stored.Length == Sides)
            CheckStored(result, stored);
        else if (IsGiven(result, reference))
            result.AddError("--reference: applies only to two stored runs; builds are compared round by round.");
    }

    private void CheckStored(CommandResult result, string[] stored)
    {
        if (StoredSides.WhyNot(stored) is { } reason)
            result.AddError($"{reason}.");
        foreach (var option in filter.Options.Concat(OfBuilds()).Where(option => IsGiven(result, option)))
            result.AddError($"{option.Name}: applies only with --build.");
    }

    private void CheckLimits(CommandResult result)
    {
        if (Readable(result, threshold) is not { } most)
            return;
        if (most < (Readable(result, margin) ?? Margin.Default.Share))
            result.AddError("--threshold: expected at least the margin, below which no cell is called slower; lower --margin too.");
        if (result.GetValue(build) is { Length: > 0 } && Readable(result, rounds) is < Comparison.EnoughRounds)
            result.AddError(
                $"--threshold: expected {Comparison.EnoughRounds} rounds or more (--rounds); with fewer, no cell is called slower.");
    }

    private static T? Readable<T>(CommandResult result, Option<T?> option)
        where T : struct
    {
        try
        {
            return result.GetValue(option);
        }
        catch (InvalidOperationException)
        {
            // The option's parser has already reported the error.
            return null;
        }
    }

}
