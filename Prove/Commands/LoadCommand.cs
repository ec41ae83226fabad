using System.CommandLine;
using Kit.Prove.Files;
using Kit.Prove.Loads;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Terminal;

namespace Kit.Prove.Commands;

/// <summary><c>load</c>: measures the latency of each message while a user's service runs.</summary>
internal sealed class LoadCommand : ProofCommand
{
    private const int DefaultWarmUp = 100;
    private const int MostWarmUp = 1_000_000;

    // The kit's server has a hundred connections, and the service needs some.
    private const int MostSenders = 50;

    private readonly LoadOptions load = new(timesOut: true, MostSenders);
    private readonly Option<int?> warmUp = NumberOption.Count(
        "--warm-up", $"Messages that the service handles before, not measured ({DefaultWarmUp}).", least: 1, MostWarmUp);
    private readonly Option<string?> rtt = DistanceOption.Create();
    private readonly ServerOptions servers = new();
    private readonly Option<string?> output = Out("A new folder for the results (results/, named by date and service).");

    public LoadCommand()
        : base(
            "load",
            "Sends messages at a fixed rate, or from users who wait for their effects, while your service runs, and measures the latency of each: from the " +
            "moment at which it was to be sent until its last effect was committed, received or called. Every message is accounted for. " +
            "Exit code 1 if a message failed, or the rate or every tried one was not sustained, 2 if the file does not fit the service.",
            ($"load orders{ProofFile.Suffix} --rate 50/s", "the latency at 50 messages a second, for 30 seconds"),
            ($"load orders{ProofFile.Suffix} --rate 50/s --rtt 2ms", "the same, as if its servers were in another zone"),
            ($"load orders{ProofFile.Suffix} --rate 50/s --rabbitmq amqp://kit:…@staging", "the same, on your broker, in a virtual host of the kit"),
            ($"load orders{ProofFile.Suffix} --users 4 --think 100ms --for 60s", "four users who wait for their effects"),
            ($"load orders{ProofFile.Suffix} --find-rate --p99 200ms --at-percent 50", "the highest rate with such a p99, and the latency at half of it"))
    {
        load.AddTo(this);
        Options.Add(warmUp);
        Options.Add(rtt);
        servers.AddTo(this);
        Options.Add(output);
    }

    protected override IEnumerable<string> PasswordsIn(ParseResult parsed) => servers.PasswordsIn(parsed);

    protected override async Task<int> RunAsync(ProofFile file, TextWriter console, ParseResult parsed, CancellationToken cancellationToken)
    {
        var plan = new ServiceLoadPlan(
            file.WithTimedRows, parsed.GetValue(output) ?? RunName.NewFolder("results", DateTimeOffset.UtcNow, $"{file.Name}-load"),
            load.Shapes(parsed), load.Length(parsed), load.LimitMilliseconds(parsed), load.Shares(parsed), load.Timeout(parsed),
            parsed.GetValue(warmUp) ?? DefaultWarmUp, load.Senders(parsed), servers.Masked(parsed))
        {
            RoundTrip = DistanceOption.Of(parsed.GetValue(rtt)),
            Named = servers.ReadFor(parsed, file),
        };
        var folder = new LoadFolder(plan.Folder);
        folder.Create();
        try
        {
            foreach (var line in CommandsOf.Lines(file))
                await console.WriteLineAsync(line);
            return await RunAsync(plan, folder, console, cancellationToken);
        }
        finally
        {
            folder.RemoveIfEmpty();
        }
    }

    private static async Task<int> RunAsync(ServiceLoadPlan plan, LoadFolder folder, TextWriter console, CancellationToken cancellationToken)
    {
        await console.WriteLineAsync(
            $"{plan.File.Name} gets, for {Figures.Measured(plan.Length.TotalSeconds)} s" +
            (plan.LimitMilliseconds is { } highest
                ? $" each, several rates. {LoadReport.RuleOf(highest)}"
                : $": {string.Join(", then ", plan.Shapes.Select(LoadOptions.TextOf))}") +
            $". The results come into {plan.Folder}");
        var display = new LoadDisplay(console, Console.IsOutputRedirected ? null : () => Console.WindowWidth);
        try
        {
            var document = await new ServiceLoadRun(plan, display.Between, display.Show, display.Ended, console.WriteLine).RunAsync(cancellationToken);
            LoadReport.WriteTerminal(document, console, Width);
            await console.WriteLineAsync($"\nReport: {folder.ReportPath}");
            return document.IsStopped ? ExitCode.Interrupted : IsDone(document) ? ExitCode.Success : ExitCode.Failure;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await console.WriteLineAsync("Stopped before any load had ended. Nothing was kept.");
            return ExitCode.Interrupted;
        }
    }

    /// <summary>True if every load has the verdict of a sustained one. In a search, messages fail at the rates that are too high.</summary>
    internal static bool IsDone(LoadDocument document) => document.Settings.LimitMilliseconds is null
        ? document.Results.All(result => result.ReasonsAgainst(limitMilliseconds: null).Count == 0)
        : FoundRate.AreWhole(document);
}
