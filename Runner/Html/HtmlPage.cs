using Kit.Runner.Html.Components;
using Kit.Runner.Results;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Views;
using Microsoft.AspNetCore.Components;
using Microsoft.AspNetCore.Components.Web;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging.Abstractions;

namespace Kit.Runner.Html;

/// <summary>A page of results with the files next to it. Everything that the page needs is in it.</summary>
public static class HtmlPage
{
    /// <summary>The folder of the badges.</summary>
    public const string Badges = "badges";

    /// <summary>Makes the view of a folder.</summary>
    /// <inheritdoc cref="ResultsView.Of"/>
    public static ResultsView ViewOf(ResultFolder folder, IReadOnlyList<ResultFolder> further) => ResultsView.Of(folder, further, Embedded.Claims);

    /// <summary>The page.</summary>
    public static Task<string> RenderAsync(PageContent content) => RenderAsync<Document>(nameof(Document.Content), content);

    /// <summary>A badge for each cell with a storm of this build, with the name of its file.</summary>
    public static async Task<IReadOnlyList<(string File, string Svg)>> RenderBadgesAsync(ResultsView view)
    {
        var badges = new List<(string, string)>();
        foreach (var row in view.Rows.Where(row => row.Loss is not Loss.Unproven).DistinctBy(row => row.Subject))
            badges.Add(($"{row.Subject}.svg", await RenderAsync<Badge>(nameof(Badge.Text), BadgeText.Of(row))));

        return badges;
    }

    private static async Task<string> RenderAsync<T>(string parameter, object value) where T : IComponent
    {
        await using var services = new ServiceCollection().BuildServiceProvider();
        await using var renderer = new HtmlRenderer(services, NullLoggerFactory.Instance);
        return await renderer.Dispatcher.InvokeAsync(async () =>
        {
            var rendered = await renderer.RenderComponentAsync<T>(ParameterView.FromDictionary(new Dictionary<string, object?> { [parameter] = value }));
            return rendered.ToHtmlString();
        });
    }
}

/// <summary>The words of a badge.</summary>
/// <param name="Name">With the mode and its framework and transport.</param>
/// <param name="Finding">Finding of the storm with the most kills and cuts.</param>
public sealed record BadgeText(string Name, string Finding, bool IsOnce)
{
    /// <param name="row">With a storm of this build.</param>
    public static BadgeText Of(ViewRow row)
    {
        var storm = row.Storms.Where(storm => storm.IsOfThisBuild).MaxBy(storm => storm.Faults)!;
        var isOnce = row.Loss is Loss.Nothing;
        return new BadgeText(
            row.IsPlain ? $"{row.Mode} on {row.Framework}/{row.Transport}" : $"{row.Mode} on {row.OthersOfSubject}",
            isOnce
                ? $"exactly once through {storm.Done}, commit {storm.Commit}"
                : $"{Worst(row).Found} in {Worst(row).Done} ({Figures.Count(Worst(row).Messages)} messages), commit {storm.Commit}",
            isOnce);
    }

    /// <summary>True if the title of a picture is that of a badge, which names a commit: the kit once wrote it.</summary>
    public static bool IsOn(string svg) => svg.Split("</title>")[0].Contains(", commit ", StringComparison.Ordinal);

    private static ViewStorm Worst(ViewRow row) => row.Storms.Where(storm => storm.IsOfThisBuild).MaxBy(storm => storm.NotOnce)!;
}
