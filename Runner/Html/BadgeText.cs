using Kit.Runner.Results;
using Kit.Runner.Results.Views;

namespace Kit.Runner.Html;

/// <summary>The words of a badge.</summary>
/// <param name="Name">With the mode and its framework and transport.</param>
/// <param name="Finding">Finding of the storm with the most messages in flight.</param>
/// <param name="IsOnce">True if every message was handled exactly once.</param>
public sealed record BadgeText(string Name, string Finding, bool IsOnce)
{
    /// <param name="row">With a storm of this build.</param>
    public static BadgeText Of(ViewRow row)
    {
        ArgumentNullException.ThrowIfNull(row);
        var storm = row.Storms.Where(storm => storm.IsOfThisBuild).MaxBy(storm => storm.InFlight)!;
        var isOnce = row.Loss is Loss.Nothing;
        return new BadgeText(
            row.IsPlain ? $"{row.Mode} on {row.Framework}/{row.Transport}" : $"{row.Mode} on {row.Others}",
            isOnce
                ? $"exactly once through {storm.Done}, commit {storm.Commit}"
                : $"{Worst(row).Found} in {Worst(row).Done} ({Figures.Count(Worst(row).Messages)} messages), commit {storm.Commit}",
            isOnce);
    }

    private static ViewStorm Worst(ViewRow row) => row.Storms.Where(storm => storm.IsOfThisBuild).MaxBy(storm => storm.NotOnce)!;
}
