using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The results of crashes of the database server, by cell.</summary>
internal static class ServerCrashes
{
    /// <param name="isForced">True for the storms in which <c>synchronous_commit</c> was off against the mode's needs; false for the others.</param>
    /// <exception cref="KitException">No storm in the folder has a crash of the server.</exception>
    public static BlockText Write(BlockSources sources, bool isForced)
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
                new("Cell", storm => $"`{storm.Cell.Framework}/{storm.Cell.Transport}/{storm.Cell.Mode}`", IsFigure: false),
                new("Setting", storm => SettingOf(storm, source.Document), IsFigure: false),
                new("Crashes", storm => Figures.Count(storm.Storm!.ServerCrashes)),
                new("Messages", storm => Figures.Count(storm.Messages)),
                new("Handled again", storm => storm.Storm!.Again is { } again ? Figures.Count(again) : Figures.None),
                new("Not handled exactly once", GuaranteeTables.NotOnceOf, IsFigure: false),
                new("Promise", storm => Words.Of(storm.Verdict), IsFigure: false),
            ],
            storms,
            $"From {sources.MadeIn(source)}, seed {string.Join(", ", seeds)}. " +
            $"{Figures.Count(storms.Sum(storm => storm.Storm!.ServerCrashes))} crashes in all. *Handled again*: the handler had returned, and a crash took " +
            "its commit back or came before it.");
    }

    private static string SettingOf(FaultResult storm, FaultDocument document) => storm.Storm!.Unflushed is { } unflushed
        ? $"`synchronous_commit = off` for {unflushed}, forced"
        : $"`{storm.Cell.On(AxisName.Flush, document.Implied) ?? Figures.None}`";
}
