using System.CommandLine;
using Kit.Prove.Drains;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Results.Drains;
using Kit.Runner.Terminal;

namespace Kit.Prove.Commands;

/// <summary><c>drain</c>: measures how many messages a second a user's service handles.</summary>
internal sealed class DrainCommand : ProofCommand
{
    private const int DefaultMessages = 2_000;
    private const int LeastMessages = 100;
    private const int MostMessages = 1_000_000;
    private const int DefaultWarmUp = 200;
    private const int DefaultRounds = 3;
    private const int MostRounds = 100;

    private readonly Option<int?> messages = NumberOption.Count(
        "--messages", $"Measured messages in each round ({Figures.Count(DefaultMessages)}).", LeastMessages, MostMessages);
    private readonly Option<int?> warmUp = NumberOption.Count(
        "--warm-up", $"Messages that the service handles before those, not measured ({DefaultWarmUp}).", least: 0, MostMessages);
    private readonly Option<int?> rounds = NumberOption.Count("--rounds", $"Rounds ({DefaultRounds}). A noisy one is repeated once.", least: 1, MostRounds);
    private readonly Option<string?> against = new("--against")
    {
        Description =
            "Measure another build in turns with this one: its proof file, or a folder that has one of the same name. " +
            $"{Comparison.EnoughRounds} rounds or more ({Comparison.EnoughRounds}). " +
            "Exit code 3 if this build is slower beyond chance, or promises less.",
        HelpName = "file or folder",
    };
    private readonly Option<string?> rtt = DistanceOption.Create();
    private readonly ServerOptions servers = new();
    private readonly Option<string?> output = Out(
        "The folder for the results (results/, named by date and service). An existing folder is resumed: for another build of the service, name another.");

    public DrainCommand()
        : base(
            "drain",
            "Measures how many messages a second your service handles: puts them into its queue or table while it is stopped, starts it, and takes the time " +
            "from the first effect after the warm-up to the last one. Each message must have exactly its effects, or the round does not count. " +
            "Exit code 1 if a round does not count, 2 if the file does not fit the service.",
            ($"drain orders{ProofFile.Suffix}", "three rounds of 2,000 messages"),
            ($"drain orders{ProofFile.Suffix} --messages 20000 --rounds 10", "a fast service, more precisely"),
            ($"drain orders{ProofFile.Suffix} --rtt 2ms", "the same, as if its servers were in another zone"),
            ($"drain orders{ProofFile.Suffix} --postgresql \"Host=staging;Username=kit;Password=…;Database=postgres\"",
             "on your server, in databases of the kit"),
            ($"drain orders{ProofFile.Suffix} --against ../before", "did this build become slower, or lose a guarantee?"))
    {
        against.NotEmpty();
        foreach (var option in new Option[] { messages, warmUp, rounds, against, rtt })
            Options.Add(option);
        servers.AddTo(this);
        Options.Add(output);
        Validators.Add(result =>
        {
            if (IsGiven(result, against) && result.GetResult(rounds) is { Implicit: false, Tokens: [var typed] }
                && int.TryParse(typed.Value, out var count) && count is > 0 and < Comparison.EnoughRounds)
            {
                result.AddError($"{against.Name}: expected {Comparison.EnoughRounds} rounds or more (--rounds); fewer give no verdict.");
            }
        });
    }

    protected override IEnumerable<string> PasswordsIn(ParseResult parsed) => servers.PasswordsIn(parsed);

    protected override async Task<int> RunAsync(ProofFile file, TextWriter console, ParseResult parsed, CancellationToken cancellationToken)
    {
        var folder = parsed.GetValue(output) ?? RunName.NewFolder("results", DateTimeOffset.UtcNow, $"{file.Name}-drain");
        var before = parsed.GetValue(against) is { } other ? TwoBuilds.Read(file, other) : null;
        var named = servers.ReadFor(parsed, [file, .. before is null ? Array.Empty<ProofFile>() : [before]]);
        DrainPlan PlanOf(ProofFile of, string into, int number) => DrainPlan.Of(
            of with { Secrets = of.Secrets.With(named.Passwords) }, into,
            parsed.GetValue(messages) ?? DefaultMessages, parsed.GetValue(warmUp) ?? DefaultWarmUp, parsed.GetValue(rounds) ?? number) with
        {
            RoundTrip = DistanceOption.Of(parsed.GetValue(rtt)),
            Named = named,
        };
        if (before is not null)
        {
            return await CompareAsync(
                PlanOf(before, Path.Combine(folder, TwoBuilds.Before), Comparison.EnoughRounds),
                PlanOf(file, Path.Combine(folder, TwoBuilds.After), Comparison.EnoughRounds), folder, console, cancellationToken);
        }

        var plan = PlanOf(file, folder, DefaultRounds);
        var results = new DrainFolder(folder);
        results.Check("drain");
        foreach (var line in CommandsOf.Lines(file))
            await console.WriteLineAsync(line);
        await console.WriteLineAsync($"{file.Name}: the results come into {folder}");
        var document = await new DrainRun(plan, console.WriteLine).RunAsync(cancellationToken);
        var report = new DrainTables(document);
        await console.WriteLineAsync();
        report.WriteTerminal(console, Width);
        await console.WriteLineAsync($"Report: {results.ReportPath}");
        if (document.Missing.Count > 0)
        {
            await console.WriteLineAsync(
                $"To make what was not made ({Figures.Count(document.Missing.Count, "round")}): " +
                $"{Verbs.TypedAfter} {Name} {Again(file)} {TypedCommand.Of(output.Name, folder)} " +
                $"{messages.Name} {document.Messages} {warmUp.Name} {document.WarmUp} {rounds.Name} {document.Planned}" +
                (document.RoundTrip is { } distance ? $" {rtt.Name} {distance}" : "") + servers.Again(parsed));
        }

        return cancellationToken.IsCancellationRequested ? ExitCode.Interrupted
            : document.IsWhole ? ExitCode.Success
            : ExitCode.Failure;
    }

    private static Task<int> CompareAsync(
        DrainPlan before, DrainPlan after, string folder, TextWriter console, CancellationToken cancellationToken) =>
        // What is printed comes from both files, and the console knows the passwords of one.
        before.File.Secrets.MaskingFailuresAsync(async () =>
        {
            await using var masked = before.File.Secrets.Over(console);
            new DrainFolder(before.Folder).Check("drain");
            new DrainFolder(after.Folder).Check("drain");
            var report = Path.Combine(folder, DrainComparison.ReportFile);
            if (Path.Exists(report) && !new DrainFolder(before.Folder).Exists)
            {
                throw new KitException(
                    $"{report} exists, and is no comparison of two builds.", "Name a new folder with --out, or that of such a comparison.")
                { IsUsage = true };
            }

            foreach (var line in CommandsOf.Lines(before.File).Concat(CommandsOf.Lines(after.File)))
                await masked.WriteLineAsync(line);
            await masked.WriteLineAsync($"{after.File.Name}: the results come into {folder}");
            var compared = await TwoBuilds.RunAsync(before, after, masked.WriteLine, cancellationToken);
            await masked.WriteLineAsync();
            foreach (var line in compared.Lines)
                await masked.WriteLineAsync(line);
            WholeFile.Write(report, compared.WriteMarkdown);
            await masked.WriteLineAsync($"Report: {report}");
            return cancellationToken.IsCancellationRequested ? ExitCode.Interrupted
                : compared.IsRegression ? ExitCode.Regression
                : compared.IsSound ? ExitCode.Success
                : ExitCode.Failure;
        });
}
