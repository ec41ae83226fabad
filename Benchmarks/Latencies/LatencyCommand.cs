using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Runner.Loads;
using Kit.Runner.Measuring;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Benchmarks.Latencies;

/// <summary><c>latency</c>: the latencies of <c>load</c> next to those that pgbench and a statement find.</summary>
internal sealed class LatencyCommand : Command
{
    private const string CellName = "bare.postgresql.shared.ado";

    private readonly Option<int> rounds = CountOption.Rounds(5);
    private readonly Option<int> seedRows = CountOption.SeedRows();
    private readonly Option<int> warmUp = CountOption.WarmUp();
    private readonly Option<double?> rate = NumberOption.Rate("--rate", "Messages a second (100).", RateSearch.Lowest, RateSearch.Highest);
    private readonly Option<TimeSpan?> length = NumberOption.Time(
        "--for", "How long messages are sent in each load (30s).", TimeSpan.FromSeconds(2), TimeSpan.FromHours(1));

    public LatencyCommand()
        : base("latency", $"""
            The latency that 'load' finds for {CellName}, next to one in which the kit neither sends nor computes: pgbench sends at the same
            rate, and a statement computes. One after the other in each round, in alternating order. pgbench draws its pauses, so 'load' does, too.

            Examples:
              latency
              latency --rate 50/s --for 60s
              latency --rounds 1 --for 5s --seed-rows 1000      to see that it works
            """)
    {
        foreach (var option in new Option[] { rounds, seedRows, warmUp, rate, length })
            Options.Add(option);

        SetAction((parsed, cancellationToken) => RunAsync(
            new LoadPlan(
                [Cell.All.Single(cell => cell.Name == CellName)], [new OpenLoad(parsed.GetValue(rate) ?? 100) { Pauses = new Random() }],
                parsed.GetValue(length) ?? TimeSpan.FromSeconds(30), LimitMilliseconds: null, HandlerOptions.DefaultConcurrency, parsed.GetValue(seedRows),
                parsed.GetValue(warmUp), Senders: 8, Folder: "", CommandLine: ""),
            parsed.GetValue(rounds),
            Console.Out,
            cancellationToken));
    }

    private static async Task<int> RunAsync(LoadPlan plan, int rounds, TextWriter output, CancellationToken cancellationToken)
    {
        ReleaseBuild.Require();
        var (cell, shape) = (plan.Cells[0], (OpenLoad)plan.Shapes[0]);
        var program = await ClientProgram.FindAsync("pgbench", cancellationToken);
        await using var servers = await ServersInUse.StartAsync(Transport.NeededBy([Transport.Of(cell)]), cancellationToken, plan.Servers);
        await output.WriteLineAsync($"PostgreSQL {servers.Of(cell).Version}, the benchmark's own; seeding {Figures.Count(plan.SeedRows)} rows");
        await servers.WidgetsOf(cell).SeedAsync(plan.SeedRows, new Unseen(), cancellationToken);
        var (kit, pgbench) = (new List<LatencyFigures>(), new List<PgbenchLatencies>());
        for (var round = 1; round <= rounds; round++)
        {
            Func<Task>[] turns = [LoadAsync, SendAsync];
            foreach (var turn in round % 2 == 0 ? turns.Reverse() : turns)
                await turn();
        }

        Write("that moment, by its log", kit, [.. pgbench.Select(load => load.FromDue)], output);
        Write("the message's commit", kit, [.. pgbench.Select(load => load.FromCommit)], output);
        return ExitCode.Success;

        async Task SendAsync()
        {
            pgbench.Add(await new PgbenchLoad(program, cell, servers, plan).RunAsync(shape.Rate, cancellationToken));
            await TellAsync("pgbench", pgbench.Count, pgbench[^1].FromDue);
        }

        async Task LoadAsync()
        {
            var result = await new LoadedCell(plan, cell, servers, between: TimeSpan.MaxValue, _ => { }, _ => { }).RunAsync(shape, cancellationToken);
            cancellationToken.ThrowIfCancellationRequested();
            kit.Add(result is { Latency: { P50: { } median, P99: { } high }, SenderLag.P50: { } late } && result.Outcome.IsValid()
                ? new LatencyFigures(median, high, late, result.Sent)
                : throw new KitException($"'load' has no p99: {result.Outcome}.", "Send at least 100 messages: --rate times --for."));
            await TellAsync("load", kit.Count, kit[^1]);
        }

        Task TellAsync(string name, int round, LatencyFigures figures) => output.WriteLineAsync(
            $"round {round} of {rounds}, {name}: {Figures.Count(figures.Messages, "message")}, " +
            $"p50 {Figures.Measured(figures.P50)} ms, p99 {Figures.Measured(figures.P99)} ms, sends {Figures.Measured(figures.Late)} ms late (p50)");
    }

    private static void Write(string from, List<LatencyFigures> kit, List<LatencyFigures> pgbench, TextWriter output)
    {
        var table = new PlainTable(
            $"Latency in ms until the row's commit. Of 'load' from the moment at which a message was to be sent, of pgbench from {from}",
            "round", "load p50", "pgbench p50", "ratio", "load p99", "pgbench p99", "ratio", "load late p50", "pgbench late p50");
        foreach (var (round, (ours, theirs)) in kit.Zip(pgbench).Index())
            Add(Figures.Plain(round + 1), ours, theirs);
        Add("median", MedianOf(kit), MedianOf(pgbench));
        table.Write(output);

        void Add(string name, LatencyFigures ours, LatencyFigures theirs) => table.Add(
            name, Figures.Measured(ours.P50), Figures.Measured(theirs.P50), Figures.Measured(ours.P50 / theirs.P50),
            Figures.Measured(ours.P99), Figures.Measured(theirs.P99), Figures.Measured(ours.P99 / theirs.P99),
            Figures.Measured(ours.Late), Figures.Measured(theirs.Late));
    }

    private static LatencyFigures MedianOf(List<LatencyFigures> rounds) =>
        new(
            MedianOf(rounds, round => round.P50), MedianOf(rounds, round => round.P99), MedianOf(rounds, round => round.Late),
            rounds.Sum(round => round.Messages));

    private static double MedianOf(List<LatencyFigures> rounds, Func<LatencyFigures, double?> figure) => Median.Of(rounds.Select(figure))!.Value;
}
