using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The modes that run on each framework and transport, in a few words.</summary>
internal static class WhatRuns
{
    private const int FewEnoughToLeaveOut = 2;

    public static BlockText Write(BlockSources sources)
    {
        var frameworks = sources.Kinds.GroupBy(kind => kind.Framework, StringComparer.Ordinal).ToList();
        var transports = sources.Kinds.Select(kind => kind.Transport).Distinct(StringComparer.Ordinal).ToList();
        // Nobody asks what a transport can that nobody has run.
        var missing = frameworks.Where(kinds => kinds.Any(kind => kind is { HasBeenRun: true, IsMissing: true })).Select(kinds => kinds.Key).ToHashSet();
        return new BlockText(
        [
            .. new Table([new("", IsFigure: false), .. transports.Select(transport => new Column(transport, IsFigure: false))], []).Lines,
            .. frameworks.Select(kinds => missing.Contains(kinds.Key)
                ? KeptRowOf(sources, kinds.Key)
                : RowOf([.. kinds], transports)),
        ]) with
        {
            Kept = [.. missing.Select(framework => $"row {framework}: left as it is, this build lacks its packages")],
        };
    }

    // Only its packages can say what a framework can run.
    private static string KeptRowOf(BlockSources sources, string framework) =>
        sources.Block.Lines.FirstOrDefault(line => line.StartsWith($"| {framework} |", StringComparison.Ordinal)) ?? throw new KitException(
            $"this build lacks the packages of {framework}, and the block has no row of it that could be left as it is.",
            "Write it with a build that has them (docs/tutorials/run-it.md, optional packages).");

    private static string RowOf(IReadOnlyList<ShownKind> kinds, IReadOnlyList<string> transports) =>
        $"| {kinds[0].Framework} | {string.Join(" | ", transports.Select(transport => WordsOf(kinds.FirstOrDefault(kind => kind.Transport == transport))))} |";

    private static string WordsOf(ShownKind? kind)
    {
        if (kind is null)
            return Figures.None;
        if (!kind.HasBeenRun)
            return "not run yet";

        var without = ShownCells.Modes.Where(mode => !kind.Runs(mode)).ToList();
        return without.Count switch
        {
            0 => "every mode",
            <= FewEnoughToLeaveOut => $"all but {string.Join(" and ", without.Select(Code))}",
            _ => string.Join(", ", ShownCells.Modes.Where(kind.Runs).Select(Code)),
        };
    }

    private static string Code(TransactionMode mode) => $"`{mode}`";
}
