using System.CommandLine;
using System.CommandLine.Parsing;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Loads;

namespace Kit.Runner.CommandLine;

/// <summary><c>report</c>: renders the tables of a stored run again.</summary>
internal sealed class ReportCommand : KitCommand
{
    private const int NarrowestTables = 140;

    private readonly Argument<string> folder = new("folder") { Description = "The folder of a run, of experiments with faults, or of both; or a bundle." };
    private readonly Option<string?> bundle = new("--bundle")
    {
        Description = "Then pack the folder into one file to hand in (results/submitted/<folder>.zip).",
        HelpName = "file.zip",
        Arity = ArgumentArity.ZeroOrOne,
    };

    public ReportCommand()
        : base(
            "report",
            "Renders the tables of a stored run again: on the terminal, and as tables.md, rounds.csv and graphs.svg in its folder. " +
            "For experiments with faults: guarantees.md and guarantees.csv. For a load: load.md and load.csv. A folder of an older kit is converted first. " +
            "For a bundle, prints the tables and checks that its reports match its rounds (exit code 1 if not).",
            ("report results/my-run", "the tables of a run, and of its experiments"),
            ("report results/my-run --bundle mine.zip", "packs a run and its experiments into one file, to hand in"),
            ("report mine.zip", "checks such a file"))
    {
        Arguments.Add(folder);
        bundle.NotEmpty();
        Options.Add(bundle);
        Validators.Add(CheckTogether);
        SetAction(Report);
    }

    // More than any table needs.
    private const int Unlimited = 100_000;

    /// <summary>Columns of the terminal; in files and pipes nothing wraps.</summary>
    public static int Width => Console.IsOutputRedirected ? Unlimited : Math.Max(NarrowestTables, Console.WindowWidth);

    private int Report(ParseResult parsed)
    {
        var path = parsed.GetRequiredValue(folder);
        if (IsBundle(path))
            return BundleOf.Check(path, Console.Out);

        var old = new OldFolder(path);
        if (old.IsThere)
        {
            old.Convert();
            Console.Out.WriteLine($"Converted {path} from schema 1: each round and each experiment is now a line of one file; commits are in moments.bin.\n");
        }

        if (new LoadFolder(path) is { Exists: true } load)
            return Report(load, isBundled: parsed.GetResult(bundle) is { Implicit: false });

        var stored = ResultFolder.Load(path);
        // A bundle takes the reports as they are. If they were written again first, none could differ from its rounds.
        var isBundled = parsed.GetResult(bundle) is { Implicit: false };
        if (!isBundled)
            stored.WriteReports();
        stored.WriteTerminal(Console.Out, Width);
        if (stored.Run is not null)
            Console.Out.WriteLine($"\nTables and graphs: {RunFolder.Open(path).TablesPath}");
        if (stored.Guarantees is not null)
            Console.Out.WriteLine($"\nGuarantees: {new FaultFolder(path).TablesPath}");
        if (isBundled)
            BundleOf.Write(path, parsed.GetValue(bundle) ?? Bundle.DefaultPathOf(path), Console.Out);
        return ExitCode.Success;
    }

    private static int Report(LoadFolder folder, bool isBundled)
    {
        if (isBundled)
            throw new KitException($"{folder.Location} holds a load, and a bundle holds a run.", "Leave out --bundle.") { IsUsage = true };

        var document = folder.Load();
        folder.Save(document);
        LoadReport.WriteTerminal(document, Console.Out, Width);
        Console.Out.WriteLine($"\nTables: {folder.TablesPath}");
        return ExitCode.Success;
    }

    private static bool IsBundle(string path) => path.EndsWith(Bundle.Extension, StringComparison.OrdinalIgnoreCase) && !Directory.Exists(path);

    private void CheckTogether(CommandResult result)
    {
        if (result.GetResult(bundle) is not { Implicit: false })
            return;
        if (result.GetValue(folder) is { } path && IsBundle(path))
            result.AddError($"--bundle: expected a folder, and {path} is already a bundle.");
        else if (result.GetValue(bundle) is { } file && !IsBundle(file))
            result.AddError($"--bundle: expected a file that ends with {Bundle.Extension}, found '{file}'.");
    }
}
