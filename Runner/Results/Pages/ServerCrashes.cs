using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The results of crashes of the database server, by cell.</summary>
/// <param name="name">As in the marks.</param>
/// <param name="isForced">True for the storms in which <c>synchronous_commit</c> was off against the mode's needs; false for the others.</param>
internal sealed class ServerCrashes(string name, bool isForced) : BlockKind(name)
{
    /// <exception cref="KitException">No storm in the folder has a crash of the server.</exception>
    public override BlockText Write(BlockSources sources)
    {
        var source = sources.Storms;
        var storms = source.Storms.Where(storm => storm.Storm!.ServerCrashes > 0 && storm.Storm.Unflushed is not null == isForced).ToList();
        if (storms.Count == 0)
        {
            throw new KitException(
                $"no storm in {source.Folder} has a crash of the server {(isForced ? "with" : "without")} synchronous_commit off against the mode's needs.",
                $"Make one: faults --storm --server-crashes{(isForced ? " --unflushed" : "")}.");
        }

        var seeds = storms.Select(storm => storm.Storm!.Seed).Distinct().Select(seed => Figures.Plain(seed)).ToList();
        return BlockText.Of(
        [
            .. MarkdownTables.LinesOfMarkdown(
                [
                    ("Cell", false), ("Setting", false), ("Crashes", true), ("Messages", true), ("Handled again", true),
                    ("Not handled exactly once", false), ("Promise", false),
                ],
                storms.Select(storm => RowOf(storm, source.Document))),
            "",
            $"From {sources.MadeIn(source)}, seed {string.Join(", ", seeds)}. " +
            $"{Figures.Count(storms.Sum(storm => storm.Storm!.ServerCrashes))} crashes in all. *Handled again*: the handler had returned, and a crash took " +
            "its commit back or came before it.",
        ]);
    }

    private static string[] RowOf(FaultResult storm, FaultDocument document) =>
    [
        $"`{storm.Cell.Framework}/{storm.Cell.Transport}/{storm.Cell.Mode}`",
        storm.Storm!.Unflushed is { } unflushed
            ? $"`synchronous_commit = off` for {unflushed}, forced"
            : $"`{storm.Cell.On(AxisName.Flush, document.Implied) ?? Figures.None}`",
        Figures.Count(storm.Storm.ServerCrashes),
        Figures.Count(storm.Messages),
        storm.Storm.Again is { } again ? Figures.Count(again) : Figures.None,
        GuaranteeTables.NotOnceOf(storm),
        Words.Of(storm.Verdict),
    ];
}
