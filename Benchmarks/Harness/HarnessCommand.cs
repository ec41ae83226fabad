using System.CommandLine;
using Kit.Runner;
using Kit.Runner.CommandLine;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Benchmarks.Harness;

/// <summary><c>harness</c>: what the runner's own work during a drain costs.</summary>
internal sealed class HarnessCommand : Command
{
    private const int Concurrency = NumberOption.DefaultConcurrency;

    // The fastest cell, in which the harness weighs most, and the one that records most.
    private static readonly IReadOnlyList<string> CellNames = ["bare.postgresql.transactions-off.ado", "bare.postgresql.full-dtc.ado"];

    private readonly Option<int> rounds = CountOption.Rounds(5);
    private readonly Option<int> messages = CountOption.Messages();
    private readonly Option<int> seedRows = CountOption.SeedRows();
    private readonly Option<int> warmUp = CountOption.WarmUp();

    public HarnessCommand()
        : base("harness", $"""
            A drain as 'run' does it, and the same drain with everything switched off that can be; one after the other in each round, in
            alternating order. The CPU time of the runner's process is the direct figure; the ratio of the rates has the noise of both.
            Cells: {string.Join(", ", CellNames)}.

            Examples:
              harness
              harness --rounds 1 --messages 2000 --seed-rows 100000      to see that it works
            """)
    {
        foreach (var count in new[] { rounds, messages, seedRows, warmUp })
            Options.Add(count);

        SetAction((parsed, cancellationToken) => RunAsync(
            new RunSettings(
                parsed.GetValue(messages), parsed.GetValue(rounds),
                Concurrency, parsed.GetValue(seedRows), parsed.GetValue(warmUp), OrderSeed: 0, Quick: false),
            Console.Out,
            cancellationToken));
    }

    private static async Task<int> RunAsync(RunSettings sizes, TextWriter output, CancellationToken cancellationToken)
    {
        await using var server = await BenchmarkServer.StartAsync(sizes.SeedRows, output, cancellationToken);
        var cells = CellNames.Select(name => new HarnessResults(name)).ToList();
        for (var round = 1; round <= sizes.Rounds; round++)
        {
            foreach (var cell in cells)
            {
                var turns = new[] { true, false };
                if (round % 2 == 0)
                    Array.Reverse(turns);

                foreach (var watched in turns)
                {
                    var meter = new CpuMeter();
                    var result = await DrainAsync(cell.Name, watched, meter);
                    await output.WriteLineAsync(
                        $"round {round} of {sizes.Rounds}, {cell.Name}, {(watched ? "watched" : "unwatched")}: {ContestLine.Of(result)}");
                    if (watched)
                        cell.AddWatched(result, meter.CoreShare);
                    else
                        cell.AddUnwatched(result);
                }
            }
        }

        foreach (var cell in cells)
            cell.Write(output);
        return cells.TrueForAll(cell => cell.AreValid) ? ExitCode.Success : ExitCode.Failure;

        Task<ContestResult> DrainAsync(string cell, bool watched, CpuMeter meter) => new ContestRound(sizes, server).RunAsync(
            (restored, stop) =>
            {
                var spec = new HandlerSpec(
                    cell, Queue: cell,
                    EndpointConnections.For(restored.Queue), EndpointConnections.For(restored.Widgets),
                    Concurrency, RecordCompletions: false);
                return watched ? WatchedHandler.StartAsync(spec, meter, stop) : UnwatchedHandler.StartAsync(spec, stop);
            },
            cancellationToken);
    }
}
