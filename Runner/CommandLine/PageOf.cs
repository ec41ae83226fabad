using Kit.Guarantees;
using Kit.Runner.Choosing;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Html;
using Kit.Runner.Results;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Views;
using Kit.Runner.Stage.Databases;

namespace Kit.Runner.CommandLine;

/// <summary>Writes the page of a folder, and the files next to it.</summary>
internal static class PageOf
{
    /// <summary>The statements that count the rows of a round and of an experiment.</summary>
    private static readonly IReadOnlyList<Statement> Statements =
    [
        new("Rows of a round, with the moments of their commits", RoundDatabases.ReadBuilt(withCommitTime: true)),
        new("All rows of a round, seeded ones too", RoundDatabases.CountRows),
        new("Rows of an experiment, with the attempt that wrote each", ExperimentDatabase.ReadRows),
        new("Transactions that were left prepared", RoundDatabases.ReadPrepared),
    ];

    /// <summary>The default file, next to the folder: a folder of results contains nothing that is not its own.</summary>
    public static string DefaultPathOf(string folder) => Path.TrimEndingDirectorySeparator(folder) + "-page/index.html";

    /// <summary>The content of the page of a folder.</summary>
    /// <exception cref="KitException">A folder is damaged, or a further one has no cell of the first.</exception>
    public static PageContent ContentOf(ResultFolder folder, IEnumerable<string> further)
    {
        var view = HtmlPage.ViewOf(folder, [.. further.Select(ResultFolder.Load)]);
        return new(view, ChoicesOfAPage.For(view.Rows), NeedsInWords.CallsOutside, Statements);
    }

    /// <summary>
    /// Writes the page, <c>results.json</c> and the badges. If they may be replaced, deletes the earlier badges of cells that have none now: other pages link
    /// them, and they would go on to claim what a former build did.
    /// </summary>
    /// <exception cref="KitException">One exists and may not be replaced, or cannot be read, written or deleted.</exception>
    public static async Task WriteAsync(PageContent content, string file, bool mayReplace, TextWriter output)
    {
        var folder = Path.GetDirectoryName(Path.GetFullPath(file))!;
        var badges = await HtmlPage.RenderBadgesAsync(content.View);
        var targets = new[] { file, Path.Combine(folder, ResultsView.File) }
            .Concat(badges.Select(badge => Path.Combine(folder, HtmlPage.Badges, badge.File))).ToList();
        if (!mayReplace && targets.FirstOrDefault(Path.Exists) is { } existing)
            throw new KitException($"{existing} already exists.", "Remove it, name another file, or add --replace.");

        IReadOnlyList<string> texts = [await HtmlPage.RenderAsync(content), content.View.ToJson(), .. badges.Select(badge => badge.Svg)];
        foreach (var (path, text) in targets.Zip(texts))
            WholeFile.Write(path, writer => writer.Write(text));
        if (mayReplace)
            DeleteBadgesBut(targets, Path.Combine(folder, HtmlPage.Badges));

        await output.WriteLineAsync($"\nPage: {file}, with {ResultsView.File} and {Figures.Count(badges.Count)} badges next to it");
    }

    private static void DeleteBadgesBut(IReadOnlyCollection<string> written, string folder)
    {
        var earlier = Directory.Exists(folder) ? Directory.GetFiles(folder, "*.svg") : [];
        // The folder is the user's, and may have pictures of their own.
        foreach (var badge in earlier.Except(written, StringComparer.Ordinal).Where(file => BadgeText.IsOn(StoredFile.Text(file))))
            WholeFile.Delete(badge);
    }
}
