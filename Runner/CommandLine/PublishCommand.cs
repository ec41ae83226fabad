using System.CommandLine;
using System.CommandLine.Parsing;
using System.Diagnostics;
using System.Globalization;
using Kit.Runner.Results;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Published;
using Kit.Runner.Servers;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>publish</c>: makes the parts of the publication, and the pages that show them.</summary>
internal sealed class PublishCommand : KitCommand
{
    private const string Typed = "publish";

    private static readonly TimeSpan ToBecomeQuiet = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(5);

    private readonly Option<string[]> only = new("--part")
    {
        Description = "Only these parts, and no page.",
        HelpName = "name,…",
        AllowMultipleArgumentsPerToken = true,
        CustomParser = result => [.. result.Tokens.SelectMany(token => token.Value.Split(',', StringSplitOptions.RemoveEmptyEntries))],
    };

    private readonly Option<bool> list = new("--list") { Description = "Make nothing: show the parts, how long they take, and which are made." };
    private readonly Option<bool> busy = new("--busy")
    {
        Description = "Do not wait until other programs are quiet. Results name the load that they made.",
    };

    public PublishCommand()
        : base(
            Typed,
            $"Makes the runs, experiments and loads of {Publication.File} from one commit, then the blocks of the pages and {Publication.PageFile}. " +
            "It goes on where it was stopped, also days later, and waits before each part until the machine is quiet. " +
            "Exit code 1 if a promise was broken for no known reason, or a round was not valid.",
            ($"{Typed} --list", "the parts, their hours, and what is made"),
            (Typed, "all that is not made yet, then the pages"),
            ($"{Typed} --part frameworks", "one part, and no page"))
    {
        foreach (var option in new Option[] { only, list, busy })
            Options.Add(option);
        Validators.Add(CheckTogether);
        SetAction(RunAsync);
    }

    private async Task<int> RunAsync(ParseResult parsed, CancellationToken cancellationToken)
    {
        var root = PagesCommand.RootAbove(Directory.GetCurrentDirectory(), Typed);
        var plan = Publication.Read(root);
        var folder = Path.Combine(root, plan.Folder);
        if (parsed.GetValue(list))
            return List(plan, PublicationRecord.In(folder));

        IReadOnlyList<PublicationPart> parts = parsed.GetValue(only) is { Length: > 0 } named ? [.. named.Select(plan.PartNamed)] : plan.Parts;
        var record = PublicationRecord.In(folder);
        if (parts.Any(part => part.Commands.Any(command => record?.Has(part, command) != true)))
            record = Of(record, await WorkTree.CommitAsync(cancellationToken), Build.OfThis());
        using var claim = FolderClaim.TakeOrCreate(folder);
        var code = await MakeAsync(parts, folder, record!, parsed.GetValue(busy), cancellationToken);
        if (parts == plan.Parts && code is ExitCode.Success or ExitCode.Failure)
            await WritePagesAsync(root, plan);
        return code;
    }

    /// <summary>Makes the commands that the record does not have.</summary>
    /// <param name="folder">Of the publication.</param>
    /// <returns>The exit code.</returns>
    internal static async Task<int> MakeAsync(
        IReadOnlyList<PublicationPart> parts, string folder, PublicationRecord record, bool isBusy, CancellationToken cancellationToken)
    {
        foreach (var (part, command) in from part in parts from command in part.Commands where !record.Has(part, command) select (part, command))
        {
            if (!isBusy)
                await QuietAsync(cancellationToken);
            var started = DateTimeOffset.UtcNow;
            var arguments = ArgumentsOf(command, Path.Combine(folder, part.Name));
            await Console.Out.WriteLineAsync($"\nPart {part.Name}: {string.Join(' ', arguments)}");
            var code = await TypedCommand.RunAsync(arguments, cancellationToken);
            if (code is not (ExitCode.Success or ExitCode.Failure))
            {
                await Console.Out.WriteLineAsync($"Stopped. What was measured is kept. To go on: ./run.sh {Typed}");
                return code;
            }

            record = record.With(folder, new MadeCommand(part.Name, command, started, DateTimeOffset.UtcNow, code));
        }

        return record.Made.Any(made => made.ExitCode != ExitCode.Success) ? ExitCode.Failure : ExitCode.Success;
    }

    /// <exception cref="KitException">Another build has begun it, or this build has no commit of its own.</exception>
    internal static PublicationRecord Of(PublicationRecord? begun, GitCommit? commit, Build build)
    {
        if (commit is null or { Dirty: true } || build.IsStale(commit.Id))
        {
            throw new KitException(
                "A publication names the commit that made it, and this build has none: it has uncommitted changes, or was not built from what is checked out.",
                "Commit the changes, and build again.")
            { IsUsage = true };
        }

        return begun is null ? new PublicationRecord(ResultJson.Schema, commit.Id, [])
            : string.Equals(begun.Commit, commit.Id, StringComparison.Ordinal) ? begun
            : throw new KitException(
                $"The publication was begun by commit {begun.Commit}, and this build is of {commit.Id}.",
                $"Check out that commit to go on, or name a new folder in {Publication.File}.")
            { IsUsage = true };
    }

    /// <summary>The command with its folder. A run and experiments go on; a load and a published experiment do not, and are made again.</summary>
    private static string[] ArgumentsOf(string command, string folder)
    {
        var typed = command.Split(' ');
        switch (typed[0])
        {
            case "run" when RunFolder.IsIn(folder):
                return ["run", "--resume", folder];
            case "run" or "faults":
                break;
            case "load" or "experiment":
                if (Directory.Exists(folder))
                    Directory.Delete(folder, recursive: true);
                break;
            default:
                throw new KitException(
                    $"{Publication.File}: expected run, faults, load or experiment, found '{command}'.", "Correct the plan of the publication.")
                { IsUsage = true };
        }

        return [.. typed, "--out", folder];
    }

    /// <exception cref="KitException">Other programs do not become quiet.</exception>
    private static async Task QuietAsync(CancellationToken cancellationToken)
    {
        var waited = Stopwatch.StartNew();
        while (await Machine.Doctor.LoadFromOthersAsync(cancellationToken) is { Problem: { } problem } found)
        {
            if (waited.Elapsed > ToBecomeQuiet)
                throw new KitException($"The machine did not become quiet: {found.Found}. {problem}", "Stop other programs, or add --busy.");
            await Console.Out.WriteLineAsync($"Waiting until other programs are quiet: {found.Found}");
            await Task.Delay(Pause, cancellationToken);
        }
    }

    private static async Task WritePagesAsync(string root, Publication plan)
    {
        PagesCommand.Run(root, isCheck: false, Console.Out);
        var shown = ResultFolder.Load(Path.Combine(root, plan.FolderOf(plan.Page)));
        await PageOf.WriteAsync(PageOf.ContentOf(shown, []), Path.Combine(root, Publication.PageFile), mayReplace: true, Console.Out);
    }

    private static int List(Publication plan, PublicationRecord? record)
    {
        Console.Out.WriteLine($"{plan.Folder}, {(record is null ? "not begun" : $"made by commit {record.Commit}")}");
        foreach (var part in plan.Parts)
        {
            Console.Out.WriteLine($"{part.Name}, {part.Hours.ToString("0.#", CultureInfo.InvariantCulture)} h");
            foreach (var command in part.Commands)
                Console.Out.WriteLine($"  {StateOf(record?.Made.FirstOrDefault(made => made.Part == part.Name && made.Command == command))}  {command}");
        }

        return ExitCode.Success;
    }

    private static string StateOf(MadeCommand? made) => made switch
    {
        null => "open",
        { ExitCode: ExitCode.Success } => "made",
        _ => "made, with a promise broken or a round that does not count",
    };

    private void CheckTogether(CommandResult result)
    {
        if (result.GetValue(list) && (IsGiven(result, only) || IsGiven(result, busy)))
            result.AddError($"{list.Name}: makes nothing; leave out the rest.");
    }
}
