using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results;
using Kit.Runner.Results.Pages;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Terminal;

namespace Kit.Runner.CommandLine;

/// <summary><c>pages</c>: writes the blocks of the pages that come from results and from the matrix.</summary>
internal sealed class PagesCommand : KitCommand
{
    private const string Typed = "pages";

    private readonly Option<bool> check = new("--check")
    {
        Description = "Write nothing; name each block that differs from what would be written (exit code 1 if one does).",
    };

    public PagesCommand()
        : base(
            Typed,
            "Writes the tables and pictures of this repository's pages that come from results and from the matrix: what stands between " +
            "<!-- block: NAME from results/FOLDER --> and <!-- /block -->. To publish a new run, name its folder in these marks.",
            (Typed, "after a new run was named in the pages"),
            ($"{Typed} --check", "is any block otherwise than it would be written?"))
    {
        Options.Add(check);
        SetAction(parsed => Run(RootAbove(Directory.GetCurrentDirectory(), Typed), parsed.GetValue(check), Console.Out));
    }

    /// <summary>The framework and transport pairs that the pages show of the matrix.</summary>
    public static IReadOnlyList<ShownKind> Kinds { get; } =
    [
        .. Cell.All.Where(cell => cell.IsPlain && cell.Access.Name == AccessLibrary.Baseline).GroupBy(cell => cell.Kind).Select(cells =>
            new ShownKind(
                cells.Key.Facts.Title,
                Transport.Named(cells.Key.Transport).Title,
                Transport.Named(cells.Key.Transport).HasBeenRun,
                cells.ToDictionary(cell => cell.Mode, cell => cell.Support))),
    ];

    /// <summary>Writes the pages of a repository, or only reports the differences.</summary>
    /// <returns>The exit code.</returns>
    /// <exception cref="KitException">A block cannot be made; no page was written.</exception>
    internal static int Run(string root, bool isCheck, TextWriter output)
    {
        var files = new PagesOfTheKit(root, Kinds).Make();
        var differing = files.Where(file => file.Differing.Count > 0).ToList();
        if (!isCheck)
        {
            foreach (var file in differing)
                WholeFile.Write(Path.Combine(root, file.Path), writer => writer.Write(file.Text));
        }

        foreach (var place in differing.SelectMany(file => file.Differing))
            output.WriteLine(isCheck ? $"DIFFERS: {place}" : $"Written: {place}");
        foreach (var place in files.SelectMany(file => file.Kept))
            output.WriteLine($"Not checked: {place}");
        if (differing.Count == 0)
            output.WriteLine("Every block is as it would be written.");
        else if (isCheck)
            output.WriteLine($"To write them: ./run.sh {Typed}");

        return isCheck && differing.Count > 0 ? ExitCode.Failure : ExitCode.Success;
    }

    /// <summary>The folder of Kit.sln: this one, or one above it.</summary>
    /// <param name="command">The command that writes into it.</param>
    /// <exception cref="KitException">There is none.</exception>
    internal static string RootAbove(string folder, string command) => WorkTree.RootAbove(folder)
        ?? throw new KitException(
            $"Expected {WorkTree.Solution} in {folder} or in a folder above it, and found none: {command} writes the pages of the kit's repository.",
            "Change into a checkout of the kit.")
        { IsUsage = true };
}
