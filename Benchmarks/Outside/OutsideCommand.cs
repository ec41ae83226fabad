using System.CommandLine;
using System.Globalization;
using System.Text.Json;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Measuring;
using Kit.Runner.Options;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Results.Loads;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Terminal;

namespace Kit.Benchmarks.Outside;

/// <summary>
/// <c>outside</c>: one cell, measured by <c>run</c>, and as a service of its own by <c>kit-prove drain</c>, in turns; or both by <c>load</c>. What the two find
/// differs by what each of them does to the service that it measures.
/// </summary>
internal sealed class OutsideCommand : Command
{
    /// <summary>The queue of the service.</summary>
    public const string QueueName = "widgets";

    private const int Concurrency = HandlerOptions.DefaultConcurrency;

    private readonly Option<int> rounds = CountOption.Rounds(5);
    private readonly Option<int> messages = CountOption.Messages();
    private readonly Option<int> warmUp = CountOption.WarmUp();
    private readonly Option<double?> rate = NumberOption.Rate(
        "--rate", "Instead of drains: the latency of 'load' at so many messages a second.", RateSearch.Lowest, RateSearch.Highest);
    private readonly Option<TimeSpan?> length = NumberOption.Time(
        "--for", "With --rate: how long messages are sent in each load (30s).", TimeSpan.FromSeconds(2), TimeSpan.FromHours(1));
    private readonly Option<string> mode = new("--mode") { Description = "The mode of the bare endpoint on PostgreSQL.", DefaultValueFactory = _ => "dtc-off" };
    private readonly Option<string> output = new("--out") { Description = "A new folder for the results of both.", Required = true };

    public OutsideCommand()
        : base("outside", """
            The bare endpoint on PostgreSQL, measured by 'run' (inside) and, as a service that knows nothing of it, by 'kit-prove drain' (outside), in turns.
            Both have a table without rows. The ratio is that of pairs of rounds. With --rate both are measured by 'load': the ratios of p50 and p99.

            Examples:
              outside --out results/outside
              outside --mode shared --rounds 10 --out results/outside-shared
              outside --rate 50/s --for 60s --out results/outside-latency
              outside --rounds 1 --messages 500 --warmup 100 --out results/outside      to see that it works
            """)
    {
        mode.AcceptOnlyFromAmong("full-dtc", "dtc-off", "scope-off", "transactions-off", "shared");
        foreach (var option in new Option[] { rounds, messages, warmUp, rate, length, mode, output })
            Options.Add(option);
        SetAction((parsed, cancellationToken) => RunAsync(
            new Turns(
                parsed.GetValue(mode)!, parsed.GetValue(messages), parsed.GetValue(warmUp), parsed.GetValue(rate),
                parsed.GetValue(length) ?? TimeSpan.FromSeconds(30), Path.GetFullPath(parsed.GetRequiredValue(output))),
            parsed.GetValue(rounds), Console.Out, cancellationToken));
    }

    private static async Task<int> RunAsync(Turns turns, int rounds, TextWriter console, CancellationToken cancellationToken)
    {
        turns.WriteProofFile();
        var pairs = turns.Measured.Select(_ => new List<(double Outside, double Inside)>()).ToList();
        for (var round = 1; round <= rounds; round++)
        {
            IReadOnlyList<double>? outside = null, inside = null;
            foreach (var isOutside in round % 2 == 1 ? [true, false] : new[] { false, true })
            {
                if (isOutside)
                    outside = await turns.FromOutsideAsync(round, cancellationToken);
                else
                    inside = await turns.FromInsideAsync(round, cancellationToken);
            }

            if (outside is null || inside is null)
                throw new KitException("A round does not count.", $"See {turns.Folder}.");
            foreach (var (at, name) in turns.Measured.Index())
            {
                pairs[at].Add((outside[at], inside[at]));
                await console.WriteLineAsync(
                    $"round {round} of {rounds}, {name}: outside {Figures.Measured(outside[at])}, inside {Figures.Measured(inside[at])}");
            }
        }

        foreach (var (name, all) in turns.Measured.Zip(pairs))
        {
            var ratio = Comparison.OfAll([RateRatio.OfPairs(all)!], Margin.Default)[0];
            // A latency is not faster if it is longer.
            await console.WriteLineAsync(
                $"{name}: outside is {(turns.Rate is null ? $"{ratio}" : ratio.WithoutReading)} times inside, " +
                $"by {Figures.Count(all.Count, "pair of rounds", "pairs of rounds")}");
        }

        return ExitCode.Success;
    }

    /// <summary>The two ways to measure one cell.</summary>
    /// <param name="Messages">Of a drain.</param>
    /// <param name="Rate">Messages a second of a load; <see langword="null"/>: it is drained.</param>
    /// <param name="Length">Of the sending.</param>
    private sealed record Turns(string Mode, int Messages, int WarmUp, double? Rate, TimeSpan Length, string Folder)
    {
        private const string Prove = "Kit.Prove";
        private const string Runner = "Kit.Runner";

        private static readonly ExternalProgram Dotnet = new("dotnet");

        /// <summary>The names of what is measured in each round.</summary>
        public IReadOnlyList<string> Measured => Rate is null ? ["messages a second"] : ["p50 ms", "p99 ms"];

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

        /// <returns>The figures of one more round of the service; <see langword="null"/>: it does not count.</returns>
        public Task<IReadOnlyList<double>?> FromOutsideAsync(int round, CancellationToken cancellationToken) => Rate is null
            ? DrainAsync(round, cancellationToken)
            : LoadAsync(Prove, ["load", ProofFile, "--warm-up", $"{WarmUp}"], $"outside-{round}", cancellationToken);

        /// <returns>The figures of a round of the cell; <see langword="null"/>: it does not count.</returns>
        public Task<IReadOnlyList<double>?> FromInsideAsync(int round, CancellationToken cancellationToken)
        {
            string[] cell =
            [
                "--framework", "bare", "--transport", "postgresql", "--mode", Mode, "--warmup", $"{WarmUp}", "--seed-rows", "0",
                "--concurrency", $"{Concurrency}",
            ];
            return Rate is null
                ? RunAsync(cell, $"inside-{round}", cancellationToken)
                : LoadAsync(Runner, ["load", .. cell], $"inside-{round}", cancellationToken);
        }

        private async Task<IReadOnlyList<double>?> DrainAsync(int round, CancellationToken cancellationToken)
        {
            var drain = Path.Combine(Folder, "outside");
            await StartAsync(
                Prove, ["drain", ProofFile, "--messages", $"{Messages}", "--warm-up", $"{WarmUp}", "--rounds", $"{round}", "--out", drain],
                cancellationToken);
            return new DrainFolder(drain).LoadDocument().Counting.FirstOrDefault(one => one.Round == round)?.Throughput.AveragePerSecond is { } rate
                ? [rate]
                : null;
        }

        private async Task<IReadOnlyList<double>?> RunAsync(string[] cell, string into, CancellationToken cancellationToken)
        {
            var run = Path.Combine(Folder, into);
            await StartAsync(Runner, ["run", .. cell, "--rounds", "1", "--messages", $"{Messages}", "--no-repeat", "--out", run], cancellationToken);
            return RunFolder.Open(run).Load().Cells.Single().Rate?.Mean is { } rate ? [rate] : null;
        }

        private async Task<IReadOnlyList<double>?> LoadAsync(string program, string[] arguments, string into, CancellationToken cancellationToken)
        {
            var load = Path.Combine(Folder, into);
            await StartAsync(
                program,
                [.. arguments, "--rate", Rate!.Value.ToString(CultureInfo.InvariantCulture), "--for", $"{Length.TotalMilliseconds:F0}ms", "--out", load],
                cancellationToken, Path.Combine(load, LoadFolder.DocumentFile));
            var result = new LoadFolder(load).LoadDocument().Results.Single();
            return result is { Latency: { P50: { } median, P99: { } high } } && result.Outcome.IsValid() ? [median, high] : null;
        }

        private static string ProgramOf(string name) => Path.Combine(AppContext.BaseDirectory, $"{name}.dll");

        /// <param name="document">Of a load, which has figures also if its sender was late; <see langword="null"/>: every failure counts.</param>
        private static async Task StartAsync(string program, string[] arguments, CancellationToken cancellationToken, string? document = null)
        {
            var ended = await Dotnet.RunAsync([ProgramOf(program), .. arguments], cancellationToken);
            cancellationToken.ThrowIfCancellationRequested();
            if (!ended.Succeeded && (ended.ExitCode != ExitCode.Failure || !File.Exists(document)))
                throw new KitException($"{program} {arguments[0]} ended with exit code {ended.ExitCode}: {ended.Output}", "See its message.");
        }
    }
}
