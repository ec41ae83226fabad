using System.CommandLine;
using System.Text.Json;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;

namespace Kit.Benchmarks.Outside;

/// <summary>
/// <c>outside</c>: one cell, measured by <c>run</c>, and as a service of its own by <c>kit-prove drain</c>, in turns. What the two find differs by what each of
/// them does to the service that it measures.
/// </summary>
internal sealed class OutsideCommand : Command
{
    /// <summary>The queue of the service.</summary>
    public const string QueueName = "widgets";

    private const int Concurrency = HandlerOptions.DefaultConcurrency;

    private readonly Option<int> rounds = CountOption.Rounds(5);
    private readonly Option<int> messages = CountOption.Messages();
    private readonly Option<int> warmUp = CountOption.WarmUp();
    private readonly Option<string> mode = new("--mode") { Description = "The mode of the bare endpoint on PostgreSQL.", DefaultValueFactory = _ => "dtc-off" };
    private readonly Option<string> output = new("--out") { Description = "A new folder for the results of both.", Required = true };

    public OutsideCommand()
        : base("outside", """
            The bare endpoint on PostgreSQL, measured by 'run' (inside) and, as a service that knows nothing of it, by 'kit-prove drain' (outside), in turns.
            Both have a table without rows. The ratio is that of pairs of rounds.

            Examples:
              outside --out results/outside
              outside --mode shared --rounds 10 --out results/outside-shared
              outside --rounds 1 --messages 500 --warmup 100 --out results/outside      to see that it works
            """)
    {
        mode.AcceptOnlyFromAmong("full-dtc", "dtc-off", "scope-off", "transactions-off", "shared");
        foreach (var option in new Option[] { rounds, messages, warmUp, mode, output })
            Options.Add(option);
        SetAction((parsed, cancellationToken) => RunAsync(
            new Turns(parsed.GetValue(mode)!, parsed.GetValue(messages), parsed.GetValue(warmUp), Path.GetFullPath(parsed.GetRequiredValue(output))),
            parsed.GetValue(rounds), Console.Out, cancellationToken));
    }

    private static async Task<int> RunAsync(Turns turns, int rounds, TextWriter console, CancellationToken cancellationToken)
    {
        turns.WriteProofFile();
        var pairs = new List<(double Outside, double Inside)>();
        for (var round = 1; round <= rounds; round++)
        {
            double? outside = null, inside = null;
            foreach (var isOutside in round % 2 == 1 ? [true, false] : new[] { false, true })
            {
                if (isOutside)
                    outside = await turns.DrainAsync(round, cancellationToken);
                else
                    inside = await turns.RunAsync(round, cancellationToken);
            }

            await console.WriteLineAsync(
                $"round {round} of {rounds}: outside {Figures.Measured(outside)}, inside {Figures.Measured(inside)} messages a second");
            if (outside is null || inside is null)
                throw new KitException("A round does not count.", $"See {turns.Folder}.");
            pairs.Add((outside.Value, inside.Value));
        }

        var ratio = Comparison.OfAll([RateRatio.OfPairs(pairs)!], Margin.Default)[0];
        await console.WriteLineAsync($"outside is {ratio} times inside, by {Figures.Count(pairs.Count, "pair of rounds", "pairs of rounds")}");
        return ExitCode.Success;
    }

    /// <summary>The two ways to measure one cell.</summary>
    private sealed record Turns(string Mode, int Messages, int WarmUp, string Folder)
    {
        private static readonly ExternalProgram Dotnet = new("dotnet");

        private string Cell => $"bare.postgresql.{Mode}.ado";

        private string ProofFile => Path.Combine(Folder, "cell.proof.json");

        /// <summary>Writes the proof file of the service.</summary>
        public void WriteProofFile()
        {
            var queue = TransactionMode.All.Single(one => one.Name == Mode).NeedsOneDatabase ? "data" : "queue";
            var text = JsonSerializer.Serialize(new
            {
                name = "cell",
                databases = queue == "data" ? (string[])[queue] : ["data", queue],
                setup = new { data = KitDatabases.CreateTable },
                start = new
                {
                    command = new[] { "dotnet", ProgramOf("Kit.Benchmarks"), ServeCommand.Verb, Cell, $"{Concurrency}" },
                    environment = new Dictionary<string, string>
                    {
                        [ServeCommand.Queue] = $"{{{{postgresql:{queue}}}}}",
                        [ServeCommand.Widgets] = "{{postgresql:data}}",
                    },
                },
                send = new
                {
                    database = queue,
                    sql =
                        $$$"""
                        INSERT INTO {{{QueueName}}} (message_id, type, body)
                        VALUES ('{{id}}', '{{{typeof(BuildWidget).FullName}}}', convert_to('{"MessageId":"{{id}}"}', 'UTF8'))
                        """,
                },
                effects = new[] { new { name = "row", database = "data", sql = "SELECT message_id FROM widget" } },
                idle = new[] { new { database = queue, sql = $"SELECT count(*) FROM {QueueName}" } },
                promise = "at-least-once",
            });
            WholeFile.Write(ProofFile, writer => writer.Write(text));
        }

        /// <returns>Messages a second of one more round from outside; <see langword="null"/>: it does not count.</returns>
        public async Task<double?> DrainAsync(int round, CancellationToken cancellationToken)
        {
            var drain = Path.Combine(Folder, "outside");
            await StartAsync(
                "Kit.Prove",
                ["drain", ProofFile, "--messages", $"{Messages}", "--warm-up", $"{WarmUp}", "--rounds", $"{round}", "--out", drain], cancellationToken);
            return new DrainFolder(drain).LoadDocument().Counting.FirstOrDefault(one => one.Round == round)?.Throughput.AveragePerSecond;
        }

        /// <returns>Messages a second of a run of one round; <see langword="null"/>: it does not count.</returns>
        public async Task<double?> RunAsync(int round, CancellationToken cancellationToken)
        {
            var run = Path.Combine(Folder, $"inside-{round}");
            await StartAsync(
                "Kit.Runner",
                [
                    "run", "--framework", "bare", "--transport", "postgresql", "--mode", Mode, "--rounds", "1", "--messages", $"{Messages}",
                    "--warmup", $"{WarmUp}", "--seed-rows", "0", "--concurrency", $"{Concurrency}", "--no-repeat", "--out", run,
                ],
                cancellationToken);
            return RunFolder.Open(run).Load().Cells.Single().Rate?.Mean;
        }

        private static string ProgramOf(string name) => Path.Combine(AppContext.BaseDirectory, $"{name}.dll");

        private static async Task StartAsync(string program, string[] arguments, CancellationToken cancellationToken)
        {
            var ended = await Dotnet.RunAsync([ProgramOf(program), .. arguments], cancellationToken);
            cancellationToken.ThrowIfCancellationRequested();
            if (!ended.Succeeded)
                throw new KitException($"{program} {arguments[0]} ended with exit code {ended.ExitCode}: {ended.Output}", "See its message.");
        }
    }
}
