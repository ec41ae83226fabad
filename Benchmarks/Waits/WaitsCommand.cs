using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Runner;
using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Benchmarks.Waits;

/// <summary><c>waits</c>: what the sessions of a drain wait for.</summary>
internal sealed class WaitsCommand : Command
{
    private const int Concurrency = NumberOption.DefaultConcurrency;

    private static readonly IReadOnlyList<string> Names =
    [
        .. Cell.All.Where(cell => cell is { Kind: BareOnPostgreSql, IsOfExperiments: true, Support.IsSupported: true }).Select(cell => cell.Name),
    ];

    private readonly Option<string[]> cells = NamesOption.Of("--cells", "Cells to drain.", Names);
    private readonly Option<int> rounds = CountOption.Rounds(3);
    private readonly Option<int> messages = CountOption.Messages();
    private readonly Option<int> seedRows = CountOption.SeedRows();
    private readonly Option<int> warmUp = CountOption.WarmUp();

    public WaitsCommand()
        : base("waits", $"""
            What the sessions of a drain wait for: pg_stat_activity, read again and again while {Concurrency} handlers drain a queue, with a pause of
            {WaitSampler.Interval.TotalMilliseconds:F0} ms after each time. Cells run one after the other in each round, in alternating order.

            Examples:
              waits --cells bare.postgresql.full-dtc.ado.last,bare.postgresql.dtc-off.ado.last
              waits --cells bare.postgresql.shared.ado --rounds 1 --messages 2000 --seed-rows 1000      to see that it works
            """)
    {
        cells.Required = true;
        Options.Add(cells);
        foreach (var count in new[] { rounds, messages, seedRows, warmUp })
            Options.Add(count);

        SetAction((parsed, cancellationToken) => RunAsync(
            [.. parsed.GetValue(cells)!.Distinct().Select(name => Cell.Find(name)!)],
            new RunSettings(
                parsed.GetValue(messages), parsed.GetValue(rounds),
                Concurrency, parsed.GetValue(seedRows), parsed.GetValue(warmUp), OrderSeed: 0, Quick: false),
            Console.Out,
            cancellationToken));
    }

    private static async Task<int> RunAsync(IReadOnlyList<Cell> cells, RunSettings sizes, TextWriter output, CancellationToken cancellationToken)
    {
        await using var server = await BenchmarkServer.StartAsync(sizes.SeedRows, output, cancellationToken);
        var drained = cells.ToDictionary(cell => cell, cell => new WaitsOfACell(cell.Name));
        for (var round = 1; round <= sizes.Rounds; round++)
        {
            foreach (var cell in round % 2 == 0 ? cells.Reverse() : cells)
            {
                var waits = drained[cell];
                var result = await new ContestRound(sizes, server).RunAsync(
                    (restored, stop) => SampledHandler.StartAsync(
                        new HandlerSpec(
                            cell.Name, Queue: cell.Name, restored.QueueForEndpoint(cell.Mode), restored.WidgetsForEndpoint, Concurrency,
                            RecordCompletions: false),
                        new WaitSampler(server.ConnectionString, restored.Names),
                        waits, stop),
                    cancellationToken);
                waits.Add(result);
                await output.WriteLineAsync($"round {round} of {sizes.Rounds}, {cell.Name}: {ContestLine.Of(result)}");
            }
        }

        WaitsOfACell.Write([.. drained.Values], Concurrency, output);
        return drained.Values.All(cell => cell.AreValid) ? ExitCode.Success : ExitCode.Failure;
    }
}
