using Kit.Runner.CommandLine;
using Kit.Runner.Html;
using Kit.Runner.Results;
using Kit.Runner.Results.Pages;
using Kit.Runner.Results.Views;

namespace Kit.Tests.Html;

/// <summary>The page of the published run with its storm of many kills, written once for all tests.</summary>
[SetUpFixture]
public sealed class PublishedPage
{
    public const string Run = "results/2026-11-23-29fde72";
    public const string Kills = Run + "-kills";

    private static readonly TemporaryFolder Folder = new();

    /// <summary>The page.</summary>
    public static string File => Folder.Below("index.html");

    /// <summary>Its results.json.</summary>
    public static string Json => Folder.Below(ResultsView.File);

    /// <summary>The badges next to it.</summary>
    public static string Badges => Folder.Below(HtmlPage.Badges);

    internal static ResultsView View { get; private set; } = null!;

    internal static RecordedRun Recorded { get; private set; } = null!;

    internal static string In(string folder) => Path.Combine(RepositoryFiles.Root, folder);

    [OneTimeSetUp]
    public async Task Write()
    {
        var folder = ResultFolder.Load(In(Run));
        var content = PageOf.ContentOf(folder, [In(Kills)]);
        (View, Recorded) = (content.View, folder.Run!);
        await PageOf.WriteAsync(content, File, mayReplace: false, TextWriter.Null);
    }

    [OneTimeTearDown]
    public void Remove() => Folder.Dispose();
}
