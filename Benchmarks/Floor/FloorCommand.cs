using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Benchmarks.Floor;

/// <summary><c>floor</c>: the bare endpoint next to the same statements with nothing around them.</summary>
internal sealed class FloorCommand : Command
{
    private const string CellName = "bare.postgresql.transactions-off.ado";
    private const int Concurrency = HandlerOptions.DefaultConcurrency;

    private readonly Option<int> rounds = CountOption.Rounds(5);
    private readonly Option<int> messages = CountOption.Messages();
    private readonly Option<int> seedRows = CountOption.SeedRows();
    private readonly Option<int> warmUp = CountOption.WarmUp();
    private readonly Option<string> synchronousCommit = new("--synchronous-commit")
    {
        Description = "The server's setting, for both: whether a commit waits for the disk.",
        DefaultValueFactory = _ => "on",
    };

    public FloorCommand()
        : base("floor", $"""
            {CellName} against pgbench with the same two autocommitted statements, rows and {Concurrency} clients, one after the other in
            each round, in alternating order.

            Examples:
              floor
              floor --synchronous-commit off
              floor --rounds 1 --messages 2000 --seed-rows 100000      to see that it works
            """)
    {
        foreach (var count in new[] { rounds, messages, seedRows, warmUp })
            Options.Add(count);

        synchronousCommit.AcceptOnlyFromAmong("on", "off");
        Options.Add(synchronousCommit);
        Validators.Add(result =>
        {
            if (result.GetValue(messages) % Concurrency != 0 || result.GetValue(warmUp) % Concurrency != 0)
                result.AddError($"--messages and --warmup must be multiples of {Concurrency}: each client of pgbench runs the same number.");
        });
        SetAction((parsed, cancellationToken) => RunAsync(
            new RunSettings(
                parsed.GetValue(messages), parsed.GetValue(rounds),
                Concurrency, parsed.GetValue(seedRows), parsed.GetValue(warmUp), OrderSeed: 0, Quick: false),
            parsed.GetValue(synchronousCommit)!,
            Console.Out,
            cancellationToken));
    }

    private static async Task<int> RunAsync(RunSettings sizes, string synchronousCommit, TextWriter output, CancellationToken cancellationToken)
    {
        var program = await ClientProgram.FindAsync("pgbench", cancellationToken);
        await using var server = await BenchmarkServer.StartAsync(sizes.SeedRows, output, cancellationToken);
        await server.SetAsync("synchronous_commit", synchronousCommit, cancellationToken);
        await output.WriteLineAsync($"synchronous_commit = {synchronousCommit}");
        var results = new FloorResults();
        for (var round = 1; round <= sizes.Rounds; round++)
        {
            var turns = new[] { (Name: "pgbench", RunAsync: PgbenchAsync), (Name: "endpoint", RunAsync: (Func<int, Task<ContestResult>>)EndpointAsync) };
            if (round % 2 == 0)
                Array.Reverse(turns);

            foreach (var turn in turns)
            {
                var result = await turn.RunAsync(round);
                await output.WriteLineAsync($"round {round} of {sizes.Rounds}, {turn.Name}: {ContestLine.Of(result)}");
                results.Add(turn.Name, result);
            }
        }

        results.Write(output);
        return results.AreValid ? ExitCode.Success : ExitCode.Failure;

        Task<ContestResult> PgbenchAsync(int round) =>
            new ContestRound(sizes, server).RunAsync(database => new Pgbench(program, database, Concurrency), cancellationToken);

        async Task<ContestResult> EndpointAsync(int round)
        {
            var settings = new RoundSettings(
                sizes, ClockSource.CommitTimestamps, server.Running, server.Running, Disk: null, server.Running.Processes ?? []);
            var cell = Cell.All.Single(cell => cell.Name == CellName);
            var document = await new Round(settings, cell, new Unseen()).RunAsync(round, attempt: 1, cancellationToken);
            cancellationToken.ThrowIfCancellationRequested();
            return ContestResult.Of(document);
        }
    }
}
