using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Endpoints.Cells;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Terminal;

namespace Kit.Runner.Loads;

/// <summary><c>load</c>: sends at a given rate, or for users, while the endpoint receives, and measures the latency of each message.</summary>
internal sealed class LoadCommand : KitCommand
{
    private const int MostSenders = 500;
    private const int DefaultSeedRows = 100_000;
    private const int DefaultWarmUp = 1_000;

    // A condition or a distance is a matter of drains: cells have the value there that their names leave out.
    private static readonly IReadOnlyList<Axis> NotOfLoads = [Axis.Condition, Axis.RoundTrip];

    private readonly CellFilter filter = new(CellFilter.Shown(ofRounds: true).Except(NotOfLoads), isMatrix: true, ofRounds: true);
    private readonly LoadOptions load = new(timesOut: false, MostSenders);
    private readonly Option<(TimeSpan From, TimeSpan To)?> snapshot = NumberOption.Range(
        "--held-snapshot",
        "A part of the load, such as 30s..60s, in which a reader holds a snapshot in the round's databases: VACUUM cannot remove dead rows.",
        TimeSpan.Zero, LoadOptions.LongestLength);
    private readonly HandlerOptions handlers = new();
    private readonly Option<int?> seedRows = NumberOption.Count(
        "--seed-rows", $"Rows in the widgets' table before each load ({DefaultSeedRows}).", least: 0);
    private readonly Option<int?> warmUp = NumberOption.Count(
        "--warmup", $"Messages handled before the schedule begins, in the same process ({DefaultWarmUp}).", least: 1);
    private readonly Option<string?> output = Out("A new folder for the results (results/, named by date and commit).");
    private readonly IReadOnlyList<string> arguments;

    public LoadCommand(IReadOnlyList<string> arguments)
        : base(
            "load",
            "Sends messages at a fixed rate, or from users who wait for their effects, while the endpoint receives, on the kit's own servers, and measures " +
            "the latency of each: from the moment at which it was to be sent until its row was committed, or, where a handler inserts none, until what it " +
            "sent has arrived. Every message is accounted for. A load of a minute or longer also follows memory, threads, connections and tables. " +
            "Exit code 1 if a load was INVALID or failed; of a search, if it found no rate for a cell, or a load at a fraction of it was.",
            ("load --framework bare --transport postgresql --rate 500/s --for 60s", "the latency of the four modes at 500 messages a second"),
            ("load --framework bare --mode dtc-off,outbox --scenario insert-and-send --rate 200/s", "two modes with a handler that sends"),
            ("load --framework bare --mode dtc-off --users 25 --senders 25 --think 30ms --ramp 5s", "25 users who wait for their rows"),
            ("load --framework bare --transport postgresql --rate 300/s --processes 1,2", "the handlers in one process, and in two"),
            ("load --framework bare --mode dtc-off --scenario query --users 10,100 --think 20ms --concurrency 1,100", "replies by few handlers or many"),
            ("load --framework bare --transport postgresql --mode shared --rate 200/s --for 30min", "half an hour: does anything grow?"),
            ("load --framework bare --transport postgresql --mode shared --rate 200/s --for 3min --held-snapshot 60s..120s", "what an open reader does to it"),
            ("load --framework bare --transport rabbitmq --find-rate --p99 100ms", "the highest rate of each mode with a p99 up to 100 ms"),
            ("load --framework bare --transport postgresql --find-rate --at-percent 50,80", "and the latency at a half and four fifths of it"))
    {
        this.arguments = arguments;
        filter.AddTo(this);
        load.AddTo(this);
        foreach (var option in new Option[] { snapshot, seedRows, warmUp, output }.Concat(handlers.All).Concat(OptionsOfRun.Refused))
            Options.Add(option);
        Validators.Add(CheckSnapshot);
        SetAction(RunAsync);
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var plan = await PlanAsync(parsed, cancellationToken);
        if (plan.HeldSnapshot is { To: var end } && end > plan.Length)
            throw LoadOptions.NotWithin(snapshot.Name, "a part of", plan.Length);
        ChosenCells.Require(plan.Cells, plan.Runnable, plan.SupportOf);
        ChosenCells.RequireRows(plan.Runnable, plan.SeedRows);
        var folder = new LoadFolder(plan.Folder);
        folder.Create();
        try
        {
            return await RunAsync(plan, cancellationToken);
        }
        finally
        {
            folder.RemoveIfEmpty();
        }
    }

    private static async Task<int> RunAsync(LoadPlan plan, CancellationToken cancellationToken)
    {
        var console = Console.Out;
        await console.WriteLineAsync(
            $"Cells: {plan.Runnable.Count}. " +
            (plan.LimitMilliseconds is null
                ? $"Each gets, for {Figures.Measured(plan.Length.TotalSeconds)} s: {string.Join(", then ", plan.Shapes.Select(LoadOptions.TextOf))}"
                : $"Each is tried at several rates for {Figures.Measured(plan.Length.TotalSeconds)} s each, until the highest sustained one is known to 10 %")
            + $". Results: {plan.Folder}");
        if (plan.LimitMilliseconds is { } highest)
            await console.WriteLineAsync(LoadReport.RuleOf(highest));
        if (LoadMemory.WarningOf(plan) is { } warning)
            await console.WriteLineAsync(warning);
        var display = new LoadDisplay(console, Console.IsOutputRedirected ? null : () => Console.WindowWidth);
        try
        {
            var document = await new LoadRun(plan, display.Between, display.Show, display.Ended).RunAsync(cancellationToken);
            LoadReport.WriteTerminal(document, console, Width);
            await console.WriteLineAsync($"\nTables: {new LoadFolder(plan.Folder).ReportPath}");
            return document switch
            {
                { IsStopped: true } => ExitCode.Interrupted,
                _ when IsDone(document) => ExitCode.Success,
                _ => ExitCode.Failure,
            };
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await console.WriteLineAsync("Stopped before any load had ended. Nothing was kept.");
            return ExitCode.Interrupted;
        }
    }

    /// <summary>True if every load is valid; of a search, if each cell has a rate.</summary>
    private static bool IsDone(LoadDocument document) => document.Settings.LimitMilliseconds is null
        ? document.Results.All(result => result.Outcome.IsValid())
        : FoundRate.AreWhole(document);

    private async Task<LoadPlan> PlanAsync(ParseResult parsed, CancellationToken cancellationToken) => new(
        handlers.Multiply(filter.Choose(parsed).Where(cell => NotOfLoads.All(axis => axis.HasImplied(cell))), parsed),
        load.Shapes(parsed),
        load.Length(parsed),
        load.LimitMilliseconds(parsed),
        handlers.Handlers(parsed)[0],
        parsed.GetValue(seedRows) ?? DefaultSeedRows,
        parsed.GetValue(warmUp) ?? DefaultWarmUp,
        load.Senders(parsed),
        await FolderAsync(parsed.GetValue(output), cancellationToken),
        string.Join(' ', arguments))
    {
        HeldSnapshot = parsed.GetValue(snapshot),
        Shares = load.Shares(parsed),
    };

    private void CheckSnapshot(CommandResult result)
    {
        if (load.IsSearch(result) && IsGiven(result, snapshot))
            result.AddError("--held-snapshot: applies to one rate or to users, and not with --find-rate.");
    }
}
