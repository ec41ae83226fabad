using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Rounds.Joining;
using Kit.Runner.Terminal;

namespace Kit.Runner.Rounds;

/// <summary><c>run</c>: measures the matrix.</summary>
internal sealed class RunCommand : KitCommand
{
    private const int DefaultMaxRounds = 40;

    private static readonly TimeSpan DefaultWait = TimeSpan.FromMinutes(10);

    private readonly CellFilter filter = new(isMatrix: true, ofRounds: true);
    private readonly Option<int?> messages = NumberOption.Count(
        "--messages", "Messages of each measured drain (10000; quick: 2000).", least: 1);
    private readonly Option<int?> rounds = NumberOption.Count("--rounds", "Rounds; each has every cell once (5; quick: 1).", least: 1);
    private readonly Option<double?> precision = NumberOption.Percent(
        "--precision",
        $"Instead of a number of rounds: add rounds, at least {Precision.LeastRounds}, until the 95 % interval of every ratio reaches at most so far from it.");
    private readonly Option<int?> maxRounds = NumberOption.Count(
        "--max-rounds", $"With --precision: the most rounds ({DefaultMaxRounds}).", least: Precision.LeastRounds);
    private readonly Option<TimeSpan?> atLeast = NumberOption.Time(
        "--at-least",
        "Rounds that would be shorter drain a multiple of the messages. A trial drain of each cell, before the first round, chooses it.",
        TimeSpan.FromSeconds(1), TimeSpan.FromHours(1));
    private readonly Option<int?> seedRows = NumberOption.Count(
        "--seed-rows", "Rows in the widgets' table before each round (1000000; quick: 100000).", least: 0);
    private readonly Option<int?> warmUp = NumberOption.Count(
        "--warmup", "Messages drained before the clock starts, in the same process (1000; quick: 500).", least: 0);
    private readonly Option<int?> workers = NumberOption.Count(
        "--workers",
        "Handlers run on so many other machines, each with a 'worker --join' of the same build, and not on this one. The processes of a cell are dealt " +
        "out to them in turn. Servers must be named.",
        least: 1, WorkerNeeds.Most);
    private readonly Option<TimeSpan?> wait = WorkerCommand.Waiting(
        $"With --workers: how long to wait for a worker, at the beginning and after one is gone ({DefaultWait.TotalMinutes}min).");
    private readonly HandlerOptions handlers = new();
    private readonly Option<int?> orderSeed = NumberOption.Count(
        "--order-seed", "Seed for the order of the cells within each round (random, and printed).", least: 0);
    private readonly Option<bool> quick = new("--quick")
    {
        Description = "One round with fewer rows and messages, about a minute. For a trial: do not cite its figures.",
    };
    private readonly Option<bool> noRepeat = new("--no-repeat") { Description = "Do not repeat noisy rounds at the end (quick never repeats any)." };
    private readonly Option<bool> noDurability = NoDurability();
    private readonly Option<bool> inTurns = new(Turns.Option) { Hidden = true };
    private readonly Option<string?> output = Out("A new folder for the results (results/, named by date and commit).");
    private readonly Option<string?> resume = new("--resume")
    {
        Description = "The folder of a run that was stopped or killed. Its missing rounds are measured, with its own cells and sizes, on the same servers.",
        HelpName = "folder",
    };
    private readonly Option<bool> retryFailed = new("--retry-failed") { Description = "With --resume: also try rounds again that have no valid attempt." };
    private readonly TransportOptions choices = TransportOptions.Choices();
    private readonly TransportOptions servers = TransportOptions.Servers();
    private readonly IReadOnlyList<string> arguments;

    public RunCommand(IReadOnlyList<string> arguments)
        : base(
            "run",
            "Measures the matrix: seeds a template, then for each round and cell restores it, preloads the queue, drains it, and checks every message.",
            ("run --quick", "a small run of the first four modes on every framework and transport, to see that it works"),
            ("run", "the same with the defaults"),
            ("run --resume results/my-run", "goes on with a run that was stopped or killed"),
            ("run --precision 3% --max-rounds 30", "as many rounds as the ratios need"),
            ("run --at-least 10s", "rounds of 10 s or longer, with a multiple of the 10000 messages if they need it"),
            ("run --framework bare --mode shared,outbox --concurrency 1,2,20 --pool 20,100", "how many handlers, and how many connections"),
            ("run --transport postgresql --processes 1,2 --workers 2 --postgresql \"Host=db1;…\"", "handlers on two other machines: one of them, then both"),
            ("run --transport rabbitmq --queue-type quorum", "RabbitMQ alone, on replicated queues"),
            ("run --transport postgresql --mode full-dtc,full-dtc-waiting,npgsql-scope,dtc-off", "what two-phase commit costs"),
            ("run --framework bare --transport postgresql --condition all", "how far the ratios depend on the table, the index, a slow neighbour"),
            ("run --framework bare --transport postgresql --mode scope-off --access all --rounds 3", "the access libraries next to each other"))
    {
        this.arguments = arguments;
        filter.AddTo(this);
        resume.NotEmpty();
        Option[] all =
        [
            messages, atLeast, rounds, precision, maxRounds, .. handlers.All, workers, wait, seedRows, warmUp, orderSeed, output, quick, noRepeat, resume,
            retryFailed, noDurability, inTurns, .. choices.All, .. servers.All,
        ];
        foreach (var option in all)
            Options.Add(option);

        Validators.Add(CheckResumed);
        Validators.Add(CheckPrecision);
        Validators.Add(CheckLength);
        Validators.Add(CheckWorkers);
        SetAction(RunAsync);
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        using var resumed = parsed.GetValue(resume) is { } stopped ? ResumedRun.Open(stopped, parsed.GetValue(retryFailed)) : null;
        if (resumed is { IsComplete: true })
        {
            await Console.Out.WriteLineAsync($"The run in {resumed.Folder.Location} is complete: {resumed.Stored.Rounds.Count} rounds. Nothing was measured.");
            return ExitOf(resumed.Stored);
        }

        var plan = resumed is null
            ? PlanOf(parsed, await FolderAsync(parsed.GetValue(output), cancellationToken))
            : PlanOf(resumed, parsed);
        plan.Require();
        var console = Console.Out;
        await console.WriteLineAsync(
            $"Cells: {plan.Runnable.Count}. Rounds of each: {(plan.Precision is null ? "" : "at most ")}{plan.Sizes.Rounds}. " +
            $"Order seed: {plan.Sizes.OrderSeed}. Results: {plan.Folder}");
        var (finished, isRemoved) = (0, false);
        try
        {
            var recorded = await TerminalDisplay.ShowAsync(MeasureAsync);
            TerminalSummary.Write(recorded, console, Width);
            await console.WriteLineAsync($"\nTables and graphs: {RunFolder.Open(plan.Folder).ReportPath}");
            return ExitOf(recorded);
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await console.WriteLineAsync(finished == 0
                ? "Stopped before any round had finished." + (isRemoved ? $" Removed the empty {plan.Folder}." : "")
                : $"Stopped. Finished rounds: {finished}, kept in {plan.Folder}; see them with: {TypedCommand.Of("report", plan.Folder)}. " +
                  $"To go on: {TypedCommand.Of("run", "--resume", plan.Folder)}");
            return ExitCode.Interrupted;
        }

        async Task<RecordedRun> MeasureAsync(IRunDisplay display)
        {
            var run = new Run(plan, display);
            try
            {
                return await run.RunAsync(cancellationToken);
            }
            finally
            {
                (finished, isRemoved) = (run.Finished, run.IsFolderRemoved);
            }
        }
    }

    /// <summary>
    /// The exit code: success if no cell was refused, before or after the run was resumed, the last attempt at each round is valid, and no attempt has lost or
    /// doubled a message: another one does not make that good.
    /// </summary>
    internal static int ExitOf(RecordedRun run) =>
        !run.Document.LeftOut.Any(left => left.IsRefused)
        && !run.Miscounted.Any()
        && run.Rounds.GroupBy(round => (round.Cell, round.Round)).All(attempts => attempts.MaxBy(round => round.Attempt)!.Outcome.IsValid())
            ? ExitCode.Success
            : ExitCode.Failure;

    /// <summary>Refuses options that a resumed run has stored: its cells and sizes. Only the addresses of named servers are not stored.</summary>
    private void CheckResumed(CommandResult result)
    {
        if (!IsGiven(result, resume))
        {
            if (result.GetValue(retryFailed))
                result.AddError($"{retryFailed.Name}: applies only with {resume.Name}.");
            return;
        }

        Option[] own =
        [
            messages, atLeast, rounds, precision, maxRounds, .. handlers.All, workers, seedRows, warmUp, orderSeed, output, quick, noRepeat, inTurns,
        ];
        foreach (var option in own.Concat(filter.Options))
        {
            if (IsGiven(result, option))
                result.AddError($"{option.Name}: the resumed run has its own; leave it out.");
        }
    }

    private void CheckPrecision(CommandResult result)
    {
        var isAsked = IsGiven(result, precision);
        if (!isAsked && IsGiven(result, maxRounds))
            result.AddError($"{maxRounds.Name}: applies only with {precision.Name}.");
        foreach (var option in new Option[] { rounds, quick, inTurns })
        {
            if (isAsked && IsGiven(result, option))
                result.AddError($"{option.Name}: {precision.Name} decides how many rounds there are; leave out one of the two.");
        }
    }

    private void CheckLength(CommandResult result)
    {
        if (IsGiven(result, atLeast) && IsGiven(result, quick))
            result.AddError($"{quick.Name}: makes rounds short, and {atLeast.Name} makes them long; leave out one of the two.");
    }

    private void CheckWorkers(CommandResult result)
    {
        if (IsGiven(result, wait) && !IsGiven(result, workers) && !IsGiven(result, resume))
            result.AddError($"{wait.Name}: applies only with {workers.Name}.");
        if (IsGiven(result, workers) && IsGiven(result, inTurns))
            result.AddError($"{workers.Name}: does not apply to a comparison of builds.");
    }

    private WorkerNeeds? NeedsOf(int? count, ParseResult parsed) =>
        count is { } needed ? new WorkerNeeds(needed, parsed.GetValue(wait) ?? DefaultWait) : null;

    private RunPlan PlanOf(ResumedRun run, ParseResult parsed)
    {
        var transports = TransportOptions.Read(parsed, choices, servers).WithMemory(parsed.GetValue(noDurability));
        return new RunPlan(
            run.FindCells(), run.Stored.Document.Settings, transports, run.RepeatsNoisy, run.Folder.Location, ServerOption.Masked(arguments, transports))
        {
            Resumed = run,
            Precision = run.Stored.Document.Precision,
            AtLeast = run.Stored.Document.AtLeast,
            Workers = NeedsOf(run.Stored.Document.WorkersNeeded, parsed),
        };
    }

    private RunPlan PlanOf(ParseResult parsed, string folder)
    {
        var transports = TransportOptions.Read(parsed, choices, servers).WithMemory(parsed.GetValue(noDurability));
        var isQuick = parsed.GetValue(quick);
        var goal = parsed.GetValue(precision) is { } share
            ? new Precision(share, parsed.GetValue(maxRounds) ?? DefaultMaxRounds, Widest: null)
            : null;
        var sizes = new RunSettings(
            Messages: parsed.GetValue(messages) ?? (isQuick ? 2_000 : 10_000),
            Rounds: goal?.MostRounds ?? parsed.GetValue(rounds) ?? (isQuick ? 1 : 5),
            Concurrency: handlers.Handlers(parsed)[0],
            SeedRows: parsed.GetValue(seedRows) ?? (isQuick ? 100_000 : 1_000_000),
            WarmUp: parsed.GetValue(warmUp) ?? (isQuick ? 500 : 1_000),
            OrderSeed: parsed.GetValue(orderSeed) ?? Random.Shared.Next(1_000_000),
            Quick: isQuick);
        return new RunPlan(
            handlers.Multiply(filter.Choose(parsed), parsed),
            sizes,
            transports,
            RepeatNoisy: !isQuick && !parsed.GetValue(noRepeat) && !parsed.GetValue(inTurns),
            folder,
            ServerOption.Masked(arguments, transports))
        {
            InTurns = parsed.GetValue(inTurns),
            Workers = NeedsOf(parsed.GetValue(workers), parsed),
            Precision = goal,
            AtLeast = parsed.GetValue(atLeast) is { } length ? new RoundLength(length.TotalSeconds, []) : null,
        };
    }
}
