using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Endpoints.Cells;
using Kit.Runner.Loading;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Rounds;

namespace Kit.Runner.CommandLine;

/// <summary><c>load</c>: sends at a given rate while the endpoint receives, and measures how long each message takes.</summary>
internal sealed class LoadCommand : KitCommand
{
    private const double FirstRate = 100;
    private const int DefaultSenders = 8;
    private const int DefaultSeedRows = 100_000;
    private const int DefaultWarmUp = 1_000;
    private const int DefaultConcurrency = 2;
    private static readonly TimeSpan DefaultLength = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan DefaultStep = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan DefaultLimit = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan ShortestLength = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestLength = TimeSpan.FromHours(24);

    // A condition or a distance is a matter of drains.
    private static readonly IReadOnlyList<string> NotOfLoads = [Cell.ConditionAxis, Cell.RoundTripAxis];

    private readonly CellFilter filter = new(
        CellFilter.Shown(ofRounds: true).Where(axis => !NotOfLoads.Contains(axis.Name)), isMatrix: true, ofRounds: true);
    private readonly Option<double?> rate = NumberOption.Rate(
        "--rate", $"Messages a second, sent on schedule whatever the endpoint does. With --find-rate: the first rate ({FirstRate}).",
        RateSearch.Lowest, RateSearch.Highest);
    private readonly Option<TimeSpan?> length = NumberOption.Time(
        "--for", $"How long messages are sent ({DefaultLength.TotalSeconds}s; with --find-rate {DefaultStep.TotalSeconds}s at each rate).",
        ShortestLength, LongestLength);
    private readonly Option<bool> findRate = new("--find-rate")
    {
        Description = "Search the highest rate that is sustained: every message handled once, no growing backlog, p99 within --p99. " +
            "Doubles or halves the rate until one is sustained and one is not, then narrows them down to 10 %.",
    };
    private readonly Option<TimeSpan?> limit = NumberOption.Time(
        "--p99", $"With --find-rate: the highest p99 of the latency ({DefaultLimit.TotalSeconds}s).", TimeSpan.FromMilliseconds(1), TimeSpan.FromHours(1));
    private readonly Option<int?> concurrency = NumberOption.Count(
        "--concurrency", $"Messages handled at the same time ({DefaultConcurrency}).", least: 1, most: NumberOption.MostConcurrency);
    private readonly Option<int?> senders = NumberOption.Count(
        "--senders", $"Sends under way at the same time ({DefaultSenders}).", least: 1, most: NumberOption.MostConcurrency);
    private readonly Option<int?> seedRows = NumberOption.Count(
        "--seed-rows", $"Rows in the widgets' table before each load ({DefaultSeedRows}).", least: 0);
    private readonly Option<int?> warmUp = NumberOption.Count(
        "--warmup", $"Messages handled before the schedule begins, in the same process ({DefaultWarmUp}).", least: 1);
    private readonly Option<string?> output = new("--out")
    {
        Description = "A new folder for the results (results/, named by date and commit).",
        HelpName = "folder",
    };
    private readonly IReadOnlyList<string> arguments;

    public LoadCommand(IReadOnlyList<string> arguments)
        : base(
            "load",
            "Sends messages at a fixed rate while the endpoint receives, on the kit's own servers, and measures the latency of each: from the moment at " +
            "which it was to be sent until its row was committed. Every message is accounted for. Exit code 1 if a load was INVALID or failed.",
            ("load --framework bare --transport postgresql --rate 500/s --for 60s", "the latency of the four modes at 500 messages a second"),
            ("load --framework bare --mode dtc-off,outbox --scenario insert-and-send --rate 200/s", "two modes with a handler that sends"),
            ("load --framework bare --transport rabbitmq --find-rate --p99 100ms", "the highest rate of each mode with a p99 up to 100 ms"))
    {
        this.arguments = arguments;
        filter.AddTo(this);
        output.NotEmpty();
        foreach (var option in new Option[] { rate, length, findRate, limit, concurrency, senders, seedRows, warmUp, output })
            Options.Add(option);
        Validators.Add(CheckTogether);
        SetAction(RunAsync);
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var plan = await PlanAsync(parsed, cancellationToken);
        RunPlan.Require(plan.Cells, plan.Runnable, plan.SupportOf);
        var console = Console.Out;
        await console.WriteLineAsync(
            $"Cells: {plan.Runnable.Count}. " +
            (plan.LimitMilliseconds is null
                ? $"Each gets {Figures.Measured(plan.Rate)} messages a second for {Figures.Measured(plan.Length.TotalSeconds)} s"
                : $"Each is tried at several rates for {Figures.Measured(plan.Length.TotalSeconds)} s each, until the highest sustained one is known to 10 %")
            + $". Results: {plan.Folder}");
        var display = new LoadDisplay(console, Console.IsOutputRedirected ? null : () => Console.WindowWidth);
        try
        {
            var document = await new LoadRun(plan, display.Show, display.Ended).RunAsync(cancellationToken);
            LoadReport.WriteTerminal(document, console, ReportCommand.Width);
            await console.WriteLineAsync($"\nTables: {new LoadFolder(plan.Folder).TablesPath}");
            return document switch
            {
                { IsStopped: true } => ExitCode.Interrupted,
                _ when document.Results.All(result => result.Outcome.IsValid()) => ExitCode.Success,
                _ => ExitCode.Failure,
            };
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await console.WriteLineAsync("Stopped before any load had ended. Nothing was kept.");
            return ExitCode.Interrupted;
        }
    }

    private async Task<LoadPlan> PlanAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var isSearch = parsed.GetValue(findRate);
        return new LoadPlan(
            [.. filter.Choose(parsed).Where(cell => cell.Condition == Condition.Plain && cell.RoundTrip == RoundTripTime.Direct)],
            parsed.GetValue(rate) ?? FirstRate,
            parsed.GetValue(length) ?? (isSearch ? DefaultStep : DefaultLength),
            isSearch ? (parsed.GetValue(limit) ?? DefaultLimit).TotalMilliseconds : null,
            parsed.GetValue(concurrency) ?? DefaultConcurrency,
            parsed.GetValue(seedRows) ?? DefaultSeedRows,
            parsed.GetValue(warmUp) ?? DefaultWarmUp,
            parsed.GetValue(senders) ?? DefaultSenders,
            parsed.GetValue(output) ?? RunName.NewFolder("results", DateTimeOffset.UtcNow, await Provenance.CommitAsync(cancellationToken)),
            string.Join(' ', arguments));
    }

    private void CheckTogether(CommandResult result)
    {
        var isSearch = result.GetValue(findRate);
        if (!isSearch && result.GetResult(rate) is not { Implicit: false })
            result.AddError("expected --rate, such as --rate 500/s, or --find-rate.");
        if (!isSearch && result.GetResult(limit) is { Implicit: false })
            result.AddError("--p99: applies only with --find-rate.");
    }
}
