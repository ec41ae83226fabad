using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Points;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;
using Kit.Runner.Terminal;

namespace Kit.Runner.Faults;

/// <summary><c>faults</c>: injects faults and accounts for every message.</summary>
internal sealed class FaultsCommand : KitCommand
{
    private static readonly Dictionary<string, Unflushed> UnflushedNames = new(StringComparer.Ordinal)
    {
        ["queue"] = Unflushed.Queue,
        ["data"] = Unflushed.Data,
    };

    private readonly Option<string[]> scenario = NamesOption.Of(
        "--scenario",
        "Run the unchanged handlers of these scenarios instead of the experiments' own handler, which writes two rows and sends a message. Faults: " +
        $"{string.Join(", ", ScenarioUnderFaults.Faults)}.",
        [.. ScenarioUnderFaults.All.Select(one => one.Name), CellFilter.Every],
        WhyNot);
    private readonly CellFilter filter;
    private readonly Option<string[]> fault = NamesOption.Of("--fault", "Only these faults.", [.. Fault.All.Select(one => one.Name)]);
    private readonly Option<int?> subscribers = NumberOption.Count(
        "--subscribers", "The handler publishes one event, and so many queues have subscribed to it (it sends to one queue).", least: 1, most: 20);
    private readonly Option<bool> storm = new("--storm")
    {
        Description = "Instead of single faults: 2000 messages for each cell, with kills and cut connections at random moments.",
    };
    private readonly Option<int?> kills = NumberOption.Count(
        "--kills", $"In a storm: how often the handler process is killed ({StormPlan.DefaultFaults}).", least: 0);
    private readonly Option<int?> cuts = NumberOption.Count(
        "--cuts", $"In a storm: how often its connections are cut ({StormPlan.DefaultFaults}).", least: 0);
    private readonly Option<int?> serverCrashes = NumberOption.Count(
        "--server-crashes",
        "In a storm: how often the database server crashes (0), by turns with all its processes killed and stopped without a checkpoint.", least: 0);
    private readonly Option<string[]> unflushed = NamesOption.Of(
        "--unflushed",
        "In a storm: give these connections of the endpoint synchronous_commit = off, which breaks promises when the server crashes.",
        [.. UnflushedNames.Keys]);
    private readonly Option<int?> seed = NumberOption.Count(
        "--seed", "In a storm: the seed for its random moments (random, and printed).", least: 0);
    private readonly Option<bool> everyPoint = new("--every-point")
    {
        Description = "Instead of single faults: a kill, a cut connection or a missing answer at each request of one handling.",
    };
    private readonly Option<string[]> only = new("--only")
    {
        Description = "With --every-point: only these experiments, named by their tokens.",
        HelpName = "token,…",
        CustomParser = result => TokensIn(result.Tokens),
        AllowMultipleArgumentsPerToken = true,
    };
    private readonly Option<string[]> ways = NamesOption.Of(
        "--ways",
        $"With --every-point: only these ways ({PointWays.ListOf(PointWays.OfClient)}). " +
        $"In {PointWay.ServerCrashedBefore.Facts().Letter} the server crashes before it has executed the request, " +
        $"in {PointWay.ServerCrashedAfter.Facts().Letter} after it.",
        PointWays.Letters);
    private readonly Option<string?> speedFrom = new("--speed-from")
    {
        Description = "The folder of a run without faults, whose speeds are shown next to the guarantees (--out, if that holds a run).",
        HelpName = "folder",
    };
    private readonly Option<string?> output = Out(
        "The folder for the results (results/, named by date and commit). An existing folder is resumed: its experiments are not " +
        "repeated, except those that are VOID, failed or named by --only. What was broken stays broken.");
    private readonly IReadOnlyList<string> arguments;

    public FaultsCommand(IReadOnlyList<string> arguments)
        : base(
            "faults",
            "Tests what each mode promises: injects faults, on the kit's own servers, and accounts for every message. " +
            "Exit code 1 if a promise is broken or a fault did not fire. A promise that is broken for a known reason is shown with that " +
            "reason, and the exit code stays 0. On 2 cores a cell takes about a minute under all faults, and two minutes in a storm.",
            ("faults --framework bare --transport postgresql", "every fault in the four modes"),
            ("faults --fault kill-before-ack,swallowed-error", "two faults in every cell"),
            ("faults --subscribers 5 --fault kill-before-commit,kill-before-ack", "the same for a handler that publishes to five queues"),
            ("faults --scenario pass,route,query --framework bare", "the same for the handlers of three scenarios"),
            ("faults --storm --speed-from results/my-run", "random kills and cuts, with the speeds of a run next to them"),
            ("faults --storm --framework bare --transport postgresql --mode full-dtc --kills 1000 --cuts 0", "a thousand kills"),
            ("faults --storm --mode shared --flush none --kills 0 --cuts 0 --server-crashes 20", "crashes of the server, without a flush of its log"),
            ("faults --every-point --framework bare --transport postgresql --mode outbox", "every moment of a crash in one cell"),
            ("faults --every-point --only bare.postgresql.outbox@7:b", "one of these moments again"),
            ("faults --every-point --ways e,f --mode shared --flush none --framework bare", "the same moments, and the server crashes"),
            ("faults --out results/my-run", "resumes what was stopped there, or adds to the run in that folder"))
    {
        this.arguments = arguments;
        filter = new CellFilter(isMatrix: true, ofRounds: false).With(Axis.Scenario, scenario);
        filter.AddTo(this);
        speedFrom.NotEmpty();
        foreach (var option in new Option[]
        {
            fault, subscribers, storm, kills, cuts, serverCrashes, unflushed, seed, everyPoint, only, ways, speedFrom, output,
        })
            Options.Add(option);
        Validators.Add(CheckTogether);
        SetAction(RunAsync);
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var plan = await PlanAsync(parsed, cancellationToken);
        ChosenCells.Require(plan.Cells, plan.Runnable, plan.SupportOf);
        var console = Console.Out;
        await console.WriteLineAsync(
            $"Cells: {plan.Runnable.Count}. " +
            (plan.Storm is { } sizes
                ? $"Storm: {sizes.Messages} messages, {sizes.Text}"
                : plan.EveryPoint is { } points
                    ? $"Every point of a handling, ways {PointWays.ListOf(points.Ways.Order())}"
                    : $"Faults: {plan.Faults.Count}") +
            $". Results: {plan.Folder}");
        try
        {
            void Tell(FaultResult result, int done, int planned) => console.WriteLine(LineOf(result, done, planned));
            var record = plan.EveryPoint is null
                ? await new FaultRun(plan, Tell, console.WriteLine).RunAsync(cancellationToken)
                : await new EveryPointRun(plan, Tell, console.WriteLine).RunAsync(cancellationToken);
            new GuaranteeReport(record.Document, record.Results).WriteTerminal(console, Width);
            await console.WriteLineAsync($"\n{SummaryOf(record.Results)}");
            if (record.Results.Any(result => result.Verdict.ShowsNothing()))
                await console.WriteLineAsync($"A VOID or failed experiment shows nothing. To repeat it: {Again(plan)}");
            await console.WriteLineAsync($"Tables: {new FaultFolder(plan.Folder).ReportPath}");
            return record.Results.All(result => result.IsGood || result.Known is not null) ? ExitCode.Success : ExitCode.Failure;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await console.WriteLineAsync($"Stopped. Finished experiments are kept. To resume: {Again(plan)}");
            return ExitCode.Interrupted;
        }
    }

    private async Task<FaultPlan> PlanAsync(ParseResult parsed, CancellationToken cancellationToken) => new(
        TokensIn(parsed) is { Count: > 0 } tokens ? [.. tokens.Select(token => PointCells.Find(token.Of)!).Distinct()] : ChosenIn(parsed),
        parsed.GetValue(fault) is { Length: > 0 } names ? [.. Fault.All.Where(one => names.Contains(one.Name))]
            : parsed.GetValue(scenario) is { Length: > 0 } ? ScenarioUnderFaults.Faults
            : Fault.All,
        parsed.GetValue(storm)
            ? new StormPlan(
                parsed.GetValue(kills) ?? StormPlan.DefaultFaults,
                parsed.GetValue(cuts) ?? StormPlan.DefaultFaults,
                parsed.GetValue(seed) ?? Random.Shared.Next(1_000_000))
            {
                ServerCrashes = parsed.GetValue(serverCrashes) ?? 0,
                IsSeedTyped = parsed.GetValue(seed) is not null,
                Unflushed = (parsed.GetValue(unflushed) ?? []).Aggregate(Unflushed.None, (all, name) => all | UnflushedNames[name]),
            }
            : null,
        SpeedsOf(parsed),
        await FolderAsync(parsed.GetValue(output), cancellationToken),
        TypedCommand.Of(arguments))
    {
        Shape = parsed.GetValue(subscribers) is { } count ? HandlerShape.OfExperiments with { Sends = 0, Subscribers = count } : HandlerShape.OfExperiments,
        EveryPoint = parsed.GetValue(everyPoint) ? new EveryPointPlan(TokensIn(parsed), WaysIn(parsed)) : null,
    };

    // 'all' includes insert, whose cells run the experiments' own handler.
    private IReadOnlyList<Cell> ChosenIn(ParseResult parsed) =>
        [.. filter.Choose(parsed).Where(cell => parsed.GetValue(scenario) is not { Length: > 0 } || ScenarioUnderFaults.Of(cell) is not null)];

    private IReadOnlyList<PointToken> TokensIn(ParseResult parsed) => [.. (parsed.GetValue(only) ?? []).Select(token => PointToken.TryParse(token)!)];

    private IReadOnlyList<PointWay> WaysIn(ParseResult parsed) => parsed.GetValue(ways) is { Length: > 0 } typed
        ? [.. typed.Select(letter => PointWays.Of(letter)!.Value)]
        : TokensIn(parsed) is { Count: > 0 } tokens ? [.. tokens.Select(token => token.Way).Distinct()]
        : PointWays.OfClient;

    // A run in the same folder gives the speeds, unless another is named.
    private SpeedSource? SpeedsOf(ParseResult parsed)
    {
        var folder = parsed.GetValue(speedFrom) ?? (parsed.GetValue(output) is { } own && RunFolder.IsIn(own) ? own : null);
        return folder is null ? null : SpeedSource.Read(folder);
    }

    /// <summary>The command that resumes in the same folder; for a storm, with the same seed.</summary>
    private string Again(FaultPlan plan) => TypedCommand.Of(
    [
        .. arguments,
        .. TypedCommand.Has(arguments, output.Name) ? [] : new[] { output.Name, plan.Folder },
        .. plan.Storm is null || TypedCommand.Has(arguments, seed.Name) ? [] : new[] { seed.Name, $"{plan.Storm.Seed}" },
    ]);

    private static string SummaryOf(IReadOnlyList<FaultResult> results) => "Experiments: " + string.Join(
        ", ",
        from result in results
        group result by result.Known is null ? Words.Of(result.Verdict) : "broken for a known reason" into alike
        orderby alike.Key
        select $"{alike.Count()} {alike.Key}") + ".";

    private static string LineOf(FaultResult result, int done, int planned) =>
        $"{done} of {planned}: {(result.Point is null ? $"{result.Cell} {result.Fault}" : result.Name)}: {Words.Of(result.Verdict)}"
        + (result.Observed.Count > 0 ? $" ({string.Join(", ", result.Observed.Select(seen => $"{seen.Messages} {Words.Of(seen.Class)}"))})" : "")
        + (result.Point is null ? "" : $": {result.Point.Moment}")
        + (result.Because is null ? "" : $": {result.Because}")
        + (result.Known is { } reason ? $": known: {reason}" : "")
        + (result.Repeated.Count > 0 ? $": repeated: {string.Join(", ", result.Repeated)}" : "")
        + (result.Seconds > 0 ? $", {result.Seconds:F1} s" : "");

    private void CheckTogether(CommandResult result)
    {
        var isStorm = result.GetValue(storm);
        if (isStorm && IsGiven(result, fault))
            result.AddError("--fault: a storm has its own faults; leave out --storm or --fault.");
        if (IsGiven(result, subscribers) && (isStorm || result.GetValue(everyPoint)))
            result.AddError("--subscribers: applies only to single faults; leave out --storm and --every-point.");
        CheckScenarios(result, isStorm);
        // Single faults recognize a commit by the requests around it, which are others there.
        foreach (var (axis, what) in new (Axis, string)[] { (Axis.Batch, "batches apply"), (Axis.Receive, "other ways to receive apply") })
        {
            if (!isStorm && !result.GetValue(everyPoint) && filter.NamesOtherThanImplied(result, axis))
                result.AddError($"--{axis.Name}: {what} only to a storm; add --storm.");
        }

        CheckPoints(result);
        foreach (var option in new Option[] { kills, cuts, serverCrashes, unflushed, seed })
        {
            if (!isStorm && IsGiven(result, option))
                result.AddError($"{option.Name}: applies only to a storm; add --storm.");
        }
    }

    private void CheckScenarios(CommandResult result, bool isStorm)
    {
        if (!IsGiven(result, scenario))
            return;
        if (isStorm || result.GetValue(everyPoint))
            result.AddError("--scenario: applies only to single faults; leave out --storm and --every-point.");
        if (IsGiven(result, subscribers))
            result.AddError("--subscribers: applies to the experiments' own handler; leave out --scenario or --subscribers.");
        foreach (var other in (result.GetValue(fault) ?? []).Except(ScenarioUnderFaults.Faults.Select(one => one.Name)))
        {
            if (Fault.All.Any(one => one.Name == other))
            {
                result.AddError(
                    $"--fault: '{other}' is not injected into the handlers of scenarios. " +
                    $"With --scenario: {string.Join(", ", ScenarioUnderFaults.Faults)}.");
            }
        }
    }

    /// <summary>The reason why a scenario is refused; <see langword="null"/> for an unknown one.</summary>
    private static string? WhyNot(string name) => Scenario.All.FirstOrDefault(one => one.Name == name) is { } known
        ? $"'{name}' cannot be accounted for under faults: {ScenarioUnderFaults.SupportOf(known).Because}"
        : null;

    private static string[] TokensIn(IEnumerable<Token> typed) =>
        [.. typed.SelectMany(token => token.Value.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries))];

    private void CheckPoints(CommandResult result)
    {
        // Not its value, which is an error if nothing follows the option.
        var tokens = result.GetResult(only) is { Implicit: false } typedAs ? TokensIn(typedAs.Tokens) : null;
        var namesWays = IsGiven(result, ways);
        if (!result.GetValue(everyPoint))
        {
            if (tokens is not null)
                result.AddError("--only: names points; add --every-point.");
            if (namesWays)
                result.AddError("--ways: names ways to meet points; add --every-point.");
            return;
        }

        if (namesWays && tokens is not null)
            result.AddError("--ways: each token names its way; leave out --ways or --only.");

        if (result.GetValue(storm))
            result.AddError("--every-point: a storm has random moments; leave out --storm or --every-point.");
        if (IsGiven(result, fault))
            result.AddError("--fault: the points of a handling are not among the faults; leave out --fault or --every-point.");
        if (tokens is { Length: 0 } && result.GetResult(only)!.Tokens.Count > 0)
            result.AddError($"--only: no token. Expected {PointToken.Form}.");
        foreach (var typed in tokens ?? [])
        {
            if (WhyNot(typed, result) is { } reason)
                result.AddError($"--only: {reason}");
        }
    }

    /// <summary>The reason why a token names no experiment of the chosen cells; <see langword="null"/> if it can.</summary>
    private string? WhyNot(string typed, CommandResult result)
    {
        if (PointToken.TryParse(typed) is not { } token)
            return $"'{typed}' is not a token. Expected {PointToken.Form}; the ways are {PointWays.ListOf(PointWays.All.Select(facts => facts.Way))}.";
        if (PointCells.Find(token.Of) is not { } cell)
            return $"'{typed}': there is no cell '{token.Of}'. To see the cells: list.";

        return filter.Refuses(result, cell) is { } option
            ? $"'{typed}' is of another cell than {option} names. Leave out {option}, or the token."
            : null;
    }
}
