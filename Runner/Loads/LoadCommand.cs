using System.CommandLine;
using System.CommandLine.Parsing;
using System.Diagnostics;
using Kit.Endpoints.Cells;
using Kit.Runner.Measuring;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Terminal;

namespace Kit.Runner.Loads;

/// <summary><c>load</c>: sends at a given rate, or for users, while the endpoint receives, and measures the latency of each message.</summary>
internal sealed class LoadCommand : KitCommand
{
    private const double FirstRate = 100;
    private const int DefaultSenders = 8;
    private const int MostSenders = 500;
    private const int DefaultSeedRows = 100_000;
    private const int DefaultWarmUp = 1_000;
    private static readonly TimeSpan DefaultLength = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan DefaultStep = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan DefaultLimit = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan ShortestLength = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestLength = TimeSpan.FromHours(24);
    private static readonly TimeSpan LongestThink = TimeSpan.FromHours(1);
    private static readonly TimeSpan DefaultTimeout = TimeSpan.FromSeconds(30);

    // Each is a task of the runner, and they share the senders' connections.
    private const int MostUsers = 10_000;

    // A condition or a distance is a matter of drains: cells have the value there that their names leave out.
    private static readonly IReadOnlyList<Axis> NotOfLoads = [Axis.Condition, Axis.RoundTrip];

    private readonly CellFilter filter = new(CellFilter.Shown(ofRounds: true).Except(NotOfLoads), isMatrix: true, ofRounds: true);
    private readonly Option<double?> rate = NumberOption.Rate(
        "--rate", $"Messages a second, sent on schedule whatever the endpoint does. With --find-rate: the first rate ({FirstRate}).",
        RateSearch.Lowest, RateSearch.Highest);
    private readonly Option<int[]> users = NumberOption.Counts(
        "--users",
        "Instead of a rate: so many users, each of whom sends a message, waits until its effect is there, and pauses. Several numbers make several loads.",
        least: 1, most: MostUsers);
    private readonly Option<TimeSpan?> think = NumberOption.Time("--think", "With --users: the pause (0s).", TimeSpan.Zero, LongestThink);
    private readonly Option<TimeSpan?> timeout = NumberOption.Time(
        "--timeout",
        $"With --users: how long they wait for an effect ({DefaultTimeout.TotalSeconds}s). Then they go on, and the message has failed, also if its effect " +
        "comes later.",
        TimeSpan.FromMilliseconds(1), LongestThink);
    private readonly Option<TimeSpan?> ramp = NumberOption.Time(
        "--ramp", "With --users: the time in which they begin, one after the other (0s). Rates and latencies leave it out.", TimeSpan.Zero, LongestLength);
    private readonly Option<(TimeSpan From, TimeSpan To)?> snapshot = NumberOption.Range(
        "--held-snapshot",
        "A part of the load, such as 30s..60s, in which a reader holds a snapshot in the round's databases: VACUUM cannot remove dead rows.",
        TimeSpan.Zero, LongestLength);
    private readonly Option<TimeSpan?> length = NumberOption.Time(
        "--for", $"How long messages are sent ({DefaultLength.TotalSeconds}s; with --find-rate {DefaultStep.TotalSeconds}s at each rate).",
        ShortestLength, LongestLength);
    private readonly Option<bool> findRate = new("--find-rate")
    {
        Description = "Search the highest rate that is sustained: the sender on time, no message lost or doubled and fewer than " +
            $"{Figures.Share(LoadResult.FailedLimit)} failed, no growing backlog, p99 within --p99. " +
            "Doubles or halves the rate until one is sustained and one is not, then narrows them down to 10 %. " +
            $"Tries a rate up to {RateSearch.MostTries} times if only the sender was late.",
    };
    private readonly Option<TimeSpan?> limit = NumberOption.Time(
        "--p99", $"With --find-rate: the highest p99 of the latency ({DefaultLimit.TotalSeconds}s).", TimeSpan.FromMilliseconds(1), TimeSpan.FromHours(1));
    private readonly Option<int[]> atPercent = NumberOption.Counts(
        "--at-percent", "With --find-rate: load again at these percentages of the highest rate, for its latency below the limit.", least: 1, most: 99);
    private readonly HandlerOptions handlers = new();
    private readonly Option<int?> senders = NumberOption.Count(
        "--senders", $"Sends under way at the same time ({DefaultSenders}). With --users: name as many as users, or they wait for each other.",
        least: 1, most: MostSenders);
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
            "Exit code 1 if a load was INVALID or failed.",
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
        foreach (var option in new Option[]
            {
                rate, users, think, timeout, ramp, length, findRate, limit, atPercent, snapshot, senders, seedRows, warmUp, output,
            }
            .Concat(handlers.All).Concat(OptionsOfRun.Refused))
        {
            Options.Add(option);
        }

        Validators.Add(CheckTogether);
        SetAction(RunAsync);
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var plan = await PlanAsync(parsed, cancellationToken);
        RequireLengths(plan);
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
                ? $"Each gets, for {Figures.Measured(plan.Length.TotalSeconds)} s: {string.Join(", then ", plan.Shapes.Select(TextOf))}"
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

    private static string TextOf(LoadShape shape) => shape switch
    {
        OpenLoad open => $"{Figures.Measured(open.Rate)} messages a second",
        ClosedLoad closed => $"{Figures.Count(closed.Users)} users with pauses of {Figures.Measured(closed.Think.TotalMilliseconds)} ms, " +
                             $"each of whom waits up to {Figures.Measured(closed.Timeout.TotalSeconds)} s",
        _ => throw new UnreachableException($"No text for a {shape.GetType().Name}."),
    };

    private async Task<LoadPlan> PlanAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var isSearch = parsed.GetValue(findRate);
        return new LoadPlan(
            handlers.Multiply(filter.Choose(parsed).Where(cell => NotOfLoads.All(axis => axis.HasImplied(cell))), parsed),
            parsed.GetValue(users) is { Length: > 0 } counts
                ? [.. counts.Select(count => new ClosedLoad(
                    count, parsed.GetValue(think) ?? TimeSpan.Zero, parsed.GetValue(ramp) ?? TimeSpan.Zero, parsed.GetValue(timeout) ?? DefaultTimeout))]
                : [new OpenLoad(parsed.GetValue(rate) ?? FirstRate)],
            parsed.GetValue(length) ?? (isSearch ? DefaultStep : DefaultLength),
            isSearch ? (parsed.GetValue(limit) ?? DefaultLimit).TotalMilliseconds : null,
            handlers.Handlers(parsed)[0],
            parsed.GetValue(seedRows) ?? DefaultSeedRows,
            parsed.GetValue(warmUp) ?? DefaultWarmUp,
            parsed.GetValue(senders) ?? DefaultSenders,
            await FolderAsync(parsed.GetValue(output), cancellationToken),
            string.Join(' ', arguments))
        {
            HeldSnapshot = parsed.GetValue(snapshot),
            Shares = [.. (parsed.GetValue(atPercent) ?? []).Order().Select(percent => percent / 100d)],
        };
    }

    private void CheckTogether(CommandResult result)
    {
        var (isSearch, isRate, isUsers) = (result.GetValue(findRate), IsGiven(result, rate), IsGiven(result, users));
        if (isUsers && (isRate || isSearch))
            result.AddError($"--users: they wait, so they have no rate; leave out {(isRate ? "--rate" : "--find-rate")}.");
        else if (!isSearch && !isRate && !isUsers)
            result.AddError("expected --rate, such as --rate 500/s, or --users, such as --users 25, or --find-rate.");
        if (!isSearch && IsGiven(result, limit))
            result.AddError("--p99: applies only with --find-rate.");
        if (!isSearch && IsGiven(result, atPercent))
            result.AddError("--at-percent: applies only with --find-rate.");
        foreach (var option in new Option[] { think, timeout, ramp }.Where(option => !isUsers && IsGiven(result, option)))
            result.AddError($"{option.Name}: applies only with --users.");
        if (isSearch && IsGiven(result, snapshot))
            result.AddError("--held-snapshot: applies to one rate or to users, and not with --find-rate.");
    }

    /// <summary>Refuses a plan with a part of a load that is not within the load.</summary>
    private static void RequireLengths(LoadPlan plan)
    {
        var (whole, remedy) = (Figures.Measured(plan.Length.TotalSeconds), "Give a longer --for; 'load --help' shows examples.");
        if (plan.Shapes[0] is ClosedLoad { Ramp: var beginning } && beginning >= plan.Length)
            throw new KitException($"--ramp: expected a time shorter than the load, which takes {whole} s.", remedy) { IsUsage = true };
        if (plan.HeldSnapshot is { To: var end } && end > plan.Length)
            throw new KitException($"--held-snapshot: expected a part of the load, which takes {whole} s.", remedy) { IsUsage = true };
    }
}
