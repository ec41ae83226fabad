using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Guarantees;
using Kit.Prove.Crashes;
using Kit.Prove.Files;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Results.Points;
using Kit.Runner.Results.Proofs;
using Kit.Runner.Terminal;

namespace Kit.Prove.Commands;

/// <summary><c>crash</c>: meets every crash point of a user's application.</summary>
internal sealed class CrashCommand : ProofCommand
{
    public const string Verb = "crash";

    private const string Xml = ".xml";

    private static readonly TimeSpan LeastBudget = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan MostBudget = TimeSpan.FromHours(24);

    private readonly Option<string?> only = new("--only")
    {
        Description = "Only this experiment, named by its token. With --out: that of the points in the folder.",
        HelpName = "token",
    };
    private readonly Option<TimeSpan?> budget = NumberOption.Time(
        "--budget",
        "Begin no experiment after this time, 10s to 24h (no limit), counted from the end of the recording. What finds most comes first. " +
        "The report lists what was not tried. " +
        "The exit code is that of what was tried, and 1 if nothing was.",
        LeastBudget, MostBudget);
    private readonly Option<string?> junit = new("--junit")
    {
        Description = "Also write the results as JUnit XML, for a build server.",
        HelpName = "file",
    };
    private readonly Option<string?> output = Out(
        "The folder for the results (results/, named by date and service). An existing folder is resumed.");

    public CrashCommand()
        : base(
            Verb,
            "Proves what your application promises: starts it on the kit's own servers, behind a proxy, crashes it around each request of one handling, " +
            "and reads what became of the message. " +
            "Exit code 1 if a promise is broken or a point was not met, 2 if the file does not fit the application.",
            ($"orders{ProofFile.Suffix}", "every crash point of an application"),
            ($"orders{ProofFile.Suffix} --budget 2min --junit proof.xml", "in a build: what finds most, for two minutes"),
            ($"orders{ProofFile.Suffix} --out results/my-proof --only orders@7:b", "one of these crashes again"))
    {
        junit.NotEmpty();
        foreach (var option in new Option[] { only, budget, junit, output }.Concat(ServerOptions.Refused))
            Options.Add(option);
        Validators.Add(CheckToken);
        // The file is deleted before anything else is done, so it must be none that somebody wrote.
        Validators.Add(result =>
        {
            if (result.GetResult(junit) is { Implicit: false, Tokens: [var typed] } && !typed.Value.EndsWith(Xml, StringComparison.OrdinalIgnoreCase))
                result.AddError($"{junit.Name}: expected a file that ends with {Xml}, found '{typed.Value}'.");
        });
    }

    // A build server would take an earlier file for the results of a run that ends without any.
    protected override void Begin(ParseResult parsed)
    {
        if (parsed.GetValue(junit) is { } earlier)
            WholeFile.Delete(earlier);
    }

    protected override async Task<int> RunAsync(ProofFile file, TextWriter console, ParseResult parsed, CancellationToken cancellationToken)
    {
        var token = parsed.GetValue(only) is { } typed ? PointToken.TryParse(typed) : null;
        if (token is not null && token.Of != file.Name)
            throw new KitException($"--only: {token} is not of {file.Name}, which {file.Path} describes.", "Name its token or its file.") { IsUsage = true };

        var folder = parsed.GetValue(output) ?? RunName.NewFolder("results", DateTimeOffset.UtcNow, file.Name);
        var results = new ProofFolder(folder);
        results.Check();
        var isResumed = results.Exists;
        foreach (var line in CommandsOf.Lines(file))
            await console.WriteLineAsync(line);
        await console.WriteLineAsync($"{file.Name}: promised is {NamedPromises.TextOf(file.Promised)}. The results come into {folder}");
        try
        {
            var run = new ProofRun(
                new ProofPlan(file, folder, token, parsed.GetValue(budget)),
                (result, done, planned) => console.WriteLine(LineOf(result, done, planned)), console.WriteLine);
            var document = await run.RunAsync(cancellationToken);
            if (parsed.GetValue(junit) is { } xml)
                WholeFile.Write(xml, writer => ProofJUnit.Write(document, writer));
            await console.WriteLineAsync($"\n{new ProofReport(document).Summary}\nReport: {results.ReportPath}");
            var again = $"{Verbs.TypedAfter} {Again(file)} {TypedCommand.Of(output.Name, folder)}";
            var broken = document.Results.FirstOrDefault(
                result => result is { Verdict: FaultVerdict.Broken, IsWithoutFault: false, Class: { } found } && !document.Promised.Contains(found));
            if (broken is not null)
                await console.WriteLineAsync($"To repeat the first broken promise: {again} {only.Name} {broken.Point.Token}");
            if (token is null && document.NotTried.Count > 0)
                await console.WriteLineAsync($"To try the {Figures.Count(document.NotTried.Count)} that were not tried: {again}");
            return cancellationToken.IsCancellationRequested ? ExitCode.Interrupted
                : document.IsKept ? ExitCode.Success
                : ExitCode.Failure;
        }
        catch (OperationCanceledException) when (cancellationToken.IsCancellationRequested)
        {
            await console.WriteLineAsync(isResumed
                ? $"Stopped before another crash. {folder} has what it had."
                : "Stopped before any crash. Nothing was kept.");
            return ExitCode.Interrupted;
        }
    }

    private static string LineOf(ProofResult result, int done, int planned) =>
        $"{done} of {planned}: {result.Point.Token}: " +
        VerdictText.Of(result.Verdict, () => Words.Of(result.Class!.Value), () => $"BROKEN: {string.Join("; ", result.Violations)}")
        + (result.IsAfterLease ? " after its lease" : "")
        + (result.IsConclusive ? "" : $": {result.Because}")
        + $": {result.Point.Moment}, {result.Seconds:F1} s";

    private void CheckToken(CommandResult result)
    {
        if (result.GetResult(only) is not { Implicit: false, Tokens: [var typed, ..] })
            return;

        var letters = PointWays.ListOf(PointWays.OfClient);
        if (PointToken.TryParse(typed.Value) is not { } token)
            result.AddError($"--only: '{typed.Value}' is not a token. Expected name@point:way, as in orders@7:b; the ways are {letters}.");
        else if (!PointWays.OfClient.Contains(token.Way))
            result.AddError($"--only: in way {token.Way.Facts().Letter} the server crashes, and 'prove' crashes no server; its ways are {letters}.");
    }
}
