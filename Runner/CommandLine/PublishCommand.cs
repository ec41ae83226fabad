using System.CommandLine;
using System.CommandLine.Parsing;
using System.Diagnostics;
using System.Globalization;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Published;
using Kit.Runner.Servers;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>publish</c>: makes the parts of the publication, and the pages that show them.</summary>
internal sealed class PublishCommand : KitCommand
{
    private const string Typed = "publish";

    private const string Again = "To make it again with the same build, move the part's folder away, and name the part.";

    private static readonly TimeSpan ToBecomeQuiet = TimeSpan.FromMinutes(5);
    private static readonly TimeSpan Pause = TimeSpan.FromSeconds(5);

    private readonly Option<string[]> only = new("--part")
    {
        Description = "Only these parts, and no page.",
        HelpName = "name,…",
        AllowMultipleArgumentsPerToken = true,
        CustomParser = result => [.. NamesOption.Typed(result)],
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
            "It goes on where it was stopped, also days later, and waits until the machine is quiet before it measures a speed. " +
            "Exit code 1 if a promise was broken for no known reason, or a round was not valid.",
            ($"{Typed} --list", "the parts, their hours, and what is made"),
            (Typed, "all that is not made yet, then the pages"),
            ($"{Typed} --part frameworks", "one part and no page; what did not count in it is tried again"))
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
        // Relative, as it would be typed: the documents keep the command line.
        var folder = Path.GetRelativePath(Directory.GetCurrentDirectory(), Path.Combine(root, plan.Folder));
        if (parsed.GetValue(list))
            return List(plan, folder, PublicationRecord.In(folder));
        RequireOwn(root);

        var named = parsed.GetValue(only) ?? [];
        IReadOnlyList<PublicationPart> parts = named.Length > 0 ? [.. named.Select(plan.PartNamed)] : plan.Parts;
        var record = PublicationRecord.In(folder);
        var open = OpenOf(parts, record, named.Length > 0);
        if (open.Count > 0)
        {
            record = await OfThisBuildAsync(record);
            using var claim = FolderClaim.TakeOrCreate(folder);
            var code = await MakeAsync(open, folder, record, parsed.GetValue(busy), OfThisBuildAsync, cancellationToken);
            if (code is not (ExitCode.Success or ExitCode.Failure))
                return code;
        }

        foreach (var part in parts)
        {
            foreach (var concern in ConcernsIn(Path.Combine(folder, part.Name)))
                await Console.Out.WriteLineAsync($"Part {part.Name}: {concern}");
        }

        if (named.Length == 0)
            await WritePagesAsync(root, plan);
        return OpenOf(parts, PublicationRecord.In(folder), isNamed: true).Count == 0 ? ExitCode.Success : ExitCode.Failure;

        // Before each command, too: somebody can commit while others are made.
        async Task<PublicationRecord> OfThisBuildAsync(PublicationRecord? begun) =>
            Of(begun, await WorkTree.CommitAsync(cancellationToken), Build.OfThis());
    }

    /// <exception cref="KitException">The plan and the pages are of another checkout than this program.</exception>
    private static void RequireOwn(string root)
    {
        var own = PagesCommand.RootAbove(AppContext.BaseDirectory, Typed);
        // Elsewhere c:\kit is C:\Kit.
        if (!string.Equals(own, root, OperatingSystem.IsLinux() ? StringComparison.Ordinal : StringComparison.OrdinalIgnoreCase))
            throw new KitException($"This is {root}, and the program was built in {own}.", $"Build and type {Typed} in one checkout.") { IsUsage = true };
    }

    /// <summary>The commands that have not ended; of parts that were named, also those that did not succeed.</summary>
    internal static IReadOnlyList<(PublicationPart Part, string Command)> OpenOf(
        IReadOnlyList<PublicationPart> parts, PublicationRecord? record, bool isNamed) =>
    [
        .. from part in parts
           from command in part.Commands
           let code = record?.Find(part, command)?.ExitCode
           where code is null || (isNamed && code != ExitCode.Success)
           select (part, command),
    ];

    /// <summary>Makes commands, each into the folder of its part.</summary>
    /// <param name="folder">Of the publication.</param>
    /// <param name="require">Called before each command: throws if the publication is no longer that of this build.</param>
    /// <returns>The exit code of the last.</returns>
    /// <exception cref="KitException">The folder of a part has results that this publication did not begin, or a command line is wrong.</exception>
    internal static async Task<int> MakeAsync(
        IReadOnlyList<(PublicationPart Part, string Command)> commands, string folder, PublicationRecord record, bool isBusy,
        Func<PublicationRecord, Task> require, CancellationToken cancellationToken)
    {
        var code = ExitCode.Success;
        foreach (var (part, command) in commands)
        {
            if (!isBusy && PublicationPart.MeasuresSpeed(command))
                await QuietAsync(cancellationToken);
            await require(record);
            var arguments = ArgumentsOf(part, command, Path.Combine(folder, part.Name), record);
            await Console.Out.WriteLineAsync($"\nPart {part.Name}: {string.Join(' ', arguments)}");
            var begun = new BegunCommand(part.Name, command, DateTimeOffset.UtcNow);
            record = record.With(folder, begun);
            code = await TypedCommand.RunAsync(arguments, cancellationToken);
            if (code is not (ExitCode.Success or ExitCode.Failure))
            {
                await Console.Out.WriteLineAsync($"Stopped. What was measured is kept; a load is made again from its beginning. To go on: ./run.sh {Typed}");
                return code;
            }

            record = record.With(folder, begun with { EndedUtc = DateTimeOffset.UtcNow, ExitCode = code });
        }

        return code;
    }

    /// <exception cref="KitException">Another build has begun it, or this build has no commit of its own.</exception>
    internal static PublicationRecord Of(PublicationRecord? begun, GitCommit? commit, Build build)
    {
        if (commit is null or { Dirty: true })
        {
            throw new KitException(
                "A publication names the commit that made it, and this build has none: it has uncommitted changes, or was not built from what is checked out.",
                "Commit the changes, and build again.")
            { IsUsage = true };
        }

        return begun is null ? new PublicationRecord(ResultJson.Schema, commit.Id, build.Fingerprint, [])
            : (begun.Commit, begun.Fingerprint) == (commit.Id, build.Fingerprint) ? begun
            : throw new KitException(
                $"The publication was begun by commit {begun.Commit} (build {begun.Fingerprint}), and this is {commit.Id} (build {build.Fingerprint}).",
                $"Check out that commit to go on, with the same optional packages, or name a new folder in {Publication.File}.")
            { IsUsage = true };
    }

    /// <summary>
    /// The command with its folder. A run and experiments go on where they were stopped. A load and a published experiment do not: what was stopped of them is
    /// moved aside.
    /// </summary>
    private static string[] ArgumentsOf(PublicationPart part, string command, string folder, PublicationRecord record)
    {
        if (Directory.Exists(folder) && !part.Commands.Any(one => record.Find(part, one) is not null))
            throw new KitException($"{folder} has results that this publication did not make.", "Move it away.") { IsUsage = true };
        var isBegun = record.Find(part, command) is not null;
        switch (PublicationPart.VerbOf(command))
        {
            case "run" when isBegun && RunFolder.IsIn(folder):
                return ["run", "--resume", folder, "--retry-failed"];
            case "run" or "faults":
                break;
            case "load" or "experiment":
                if (Directory.Exists(folder))
                    Directory.Move(folder, RunName.New(folder + "-stopped"));
                break;
            default:
                throw new UnreachableException($"The plan was checked, and has '{command}'.");
        }

        return [.. command.Split(' '), "--out", folder];
    }

    /// <exception cref="KitException">Other programs do not become quiet.</exception>
    private static async Task QuietAsync(CancellationToken cancellationToken)
    {
        var waited = Stopwatch.StartNew();
        while (await MachineChecks.LoadFromOthersAsync(cancellationToken) is { Problem: { } problem } found)
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

    /// <summary>
    /// Sentences on the noisy runs and loads of a part, and on refused cells. A part that was stopped or is made at this moment is read as far as it goes.
    /// </summary>
    /// <param name="folder">Of the part; it need not be there.</param>
    internal static IEnumerable<string> ConcernsIn(string folder)
    {
        if (!Directory.Exists(folder))
            yield break;
        foreach (var one in Directory.EnumerateDirectories(folder, "*", SearchOption.AllDirectories).Prepend(folder).Order(StringComparer.Ordinal))
        {
            if (RunFolder.IsIn(one))
            {
                var run = RunFolder.Open(one).Load();
                if (run.NoiseThatCounts is { } rounds)
                    yield return $"{rounds} {Again}";
                foreach (var refused in run.Document.LeftOut.Where(left => left.IsRefused))
                    yield return $"Refused: {refused.Cell}: {refused.Because}. {Again}";
            }

            if (new LoadFolder(one) is { Exists: true } load && LoadReport.NoiseIn(load.LoadDocument().Results) is { } loads)
                yield return $"{loads} {Again}";
        }
    }

    private static int List(Publication plan, string folder, PublicationRecord? record)
    {
        Console.Out.WriteLine($"{plan.Folder}, {(record is null ? "not begun" : $"made by commit {record.Commit}")}");
        foreach (var part in plan.Parts)
        {
            Console.Out.WriteLine($"{part.Name}, {part.Hours.ToString("0.#", CultureInfo.InvariantCulture)} h");
            foreach (var command in part.Commands)
                Console.Out.WriteLine($"  {StateOf(record?.Find(part, command))}  {command}");
            foreach (var concern in ConcernsIn(Path.Combine(folder, part.Name)))
                Console.Out.WriteLine($"  {concern}");
        }

        return ExitCode.Success;
    }

    private static string StateOf(BegunCommand? command) => command switch
    {
        null => "open",
        { ExitCode: null } => "stopped",
        { ExitCode: ExitCode.Success } => "made",
        _ => "made, and a promise was broken or something does not count",
    };

    private void CheckTogether(CommandResult result)
    {
        if (result.GetValue(list) && (IsGiven(result, only) || IsGiven(result, busy)))
            result.AddError($"{list.Name}: makes nothing; leave out the rest.");
        // Without a name it would make every part.
        if (IsGiven(result, only) && result.GetValue(only) is null or [])
            result.AddError($"{only.Name}: no name. {list.Name} shows the parts.");
    }
}
