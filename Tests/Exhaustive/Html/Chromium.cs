using Kit.Runner.Servers;
using Kit.Tests.Html;
using Microsoft.Playwright;

namespace Kit.Tests.Exhaustive.Html;

/// <summary>The system's Chromium, without a window.</summary>
internal sealed class Chromium : IAsyncDisposable
{
    private static readonly IReadOnlyList<string> Names = ["chromium", "chromium-browser", "google-chrome", "chrome"];

    private readonly IPlaywright playwright;
    private readonly IBrowser browser;

    private Chromium(IPlaywright playwright, IBrowser browser) => (this.playwright, this.browser) = (playwright, browser);

    /// <summary>Why there is none; <see langword="null"/> if there is one.</summary>
    public static string? Missing => Path is null ? $"There is no Chromium on the search path ({string.Join(", ", Names)})." : null;

    private static string? Path => Names.Select(ExternalProgram.OnSearchPath).FirstOrDefault(path => path is not null);

    public static async Task<Chromium> StartAsync()
    {
        var driver = await Playwright.CreateAsync();
        // In a container the user is often root, whom Chromium gives no sandbox. The only page is the tests' own file.
        return new Chromium(driver, await driver.Chromium.LaunchAsync(new() { ExecutablePath = Path, Args = ["--no-sandbox"] }));
    }

    /// <summary>An empty page whose errors and requests are kept.</summary>
    public async Task<WatchedPage> NewPageAsync(int width = 1280, ColorScheme scheme = ColorScheme.Light)
    {
        var context = await browser.NewContextAsync(new() { ViewportSize = new() { Width = width, Height = 900 }, ColorScheme = scheme });
        await context.AddInitScriptAsync(
            "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async text => { window.copied = text; } } });");
        return new WatchedPage(await context.NewPageAsync());
    }

    public async ValueTask DisposeAsync()
    {
        await browser.DisposeAsync();
        playwright.Dispose();
    }
}

/// <summary>A page, what it complained about and what it asked for.</summary>
internal sealed class WatchedPage : IAsyncDisposable
{
    public WatchedPage(IPage page)
    {
        Page = page;
        page.Console += (_, message) =>
        {
            if (message.Type is "error" or "warning")
                Complaints.Add(message.Text);
        };
        page.PageError += (_, error) => Complaints.Add(error);
        page.Request += (_, request) => Requests.Add(request.Url);
    }

    public IPage Page { get; }

    public List<string> Complaints { get; } = [];

    public List<string> Requests { get; } = [];

    /// <summary>Opens the published page.</summary>
    /// <param name="fragment">What follows <c>#</c> in the address.</param>
    public Task OpenAsync(string fragment = "") =>
        Page.GotoAsync(new Uri(PublishedPage.File).AbsoluteUri + (fragment.Length == 0 ? "" : $"#{fragment}"));

    public Task<string> TextOfAsync(string selector) => Page.Locator(selector).First.InnerTextAsync();

    /// <summary>The ids of the rows that the table shows, in their order.</summary>
    public Task<string[]> ShownRowsAsync() =>
        Page.EvaluateAsync<string[]>("[...document.querySelectorAll('table.main tr[data-row]')].filter(row => row.offsetParent).map(row => row.dataset.row)");

    public async ValueTask DisposeAsync() => await Page.Context.DisposeAsync();
}
