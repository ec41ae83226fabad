namespace Kit.Runner.Results.Pages;

/// <summary>Lines about a framework that this build lacks: only its packages can say what it can run.</summary>
internal static class KeptLines
{
    /// <summary>The row of a table that begins with a name, as it stands on the page.</summary>
    /// <exception cref="KitException">The page has none.</exception>
    public static string RowOf(BlockSources sources, string name) => sources.LinesThatBegin(Begin(name)) is [var row, ..] ? row : throw new KitException(
        $"this build lacks the packages of {name}, and the block has no row of it that could be left as it is.",
        "Write it with a build that has them (docs/tutorials/run-it.md, optional packages).");

    /// <summary>A note about the kept row.</summary>
    public static string Note(string name) => $"row {name}: left as it is, this build lacks its packages";

    private static string Begin(string name) => $"| {name} |";
}
