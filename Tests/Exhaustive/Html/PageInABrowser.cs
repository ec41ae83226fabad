using System.Text.Json;
using Kit.Runner.Choosing;
using Kit.Runner.Results;
using Kit.Tests.Html;
using Microsoft.Playwright;

namespace Kit.Tests.Exhaustive.Html;

/// <summary>The page of the published run in a real browser.</summary>
public sealed class PageInABrowser
{
    private const int Wide = 1280;
    private const int Narrow = 375;

    private Chromium chromium = null!;
    private WatchedPage watched = null!;

    [OneTimeSetUp]
    public async Task Start()
    {
        if (Chromium.Missing is { } because)
            Assert.Ignore(because);

        await new PublishedPage().Write();
        chromium = await Chromium.StartAsync();
    }

    [OneTimeTearDown]
    public async Task Stop()
    {
        new PublishedPage().Remove();
        if (chromium is not null)
            await chromium.DisposeAsync();
    }

    [SetUp]
    public async Task Open() => watched = await chromium.NewPageAsync();

    [TearDown]
    public async Task Close() => await watched.DisposeAsync();

    [Test]
    public async Task Complains_about_nothing_and_asks_for_no_other_file()
    {
        await watched.OpenAsync();
        foreach (var button in new[] { "link", "markdown", "csv" })
            await watched.Page.ClickAsync($"[data-copy={button}]");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(watched.Complaints, Is.Empty);
            Assert.That(watched.Requests, Is.EqualTo(new[] { new Uri(PublishedPage.File).AbsoluteUri }));
        }
    }

    [Test]
    public async Task Has_a_row_for_each_cell_and_a_mark_for_each_round()
    {
        await watched.OpenAsync();

        var (cells, rounds) = (PublishedPage.Recorded.Cells.Count, PublishedPage.Recorded.Rounds.Count);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(await watched.ShownRowsAsync(), Has.Length.EqualTo(cells));
            Assert.That(await watched.Page.Locator(".strip .round, .strip .failed").CountAsync(), Is.EqualTo(rounds));
            Assert.That(await watched.Page.Locator(".strip .interval").CountAsync(), Is.EqualTo(cells));
            Assert.That(await watched.Page.Locator("#rates .line").CountAsync(), Is.EqualTo(rounds));
            Assert.That(await watched.Page.Locator("#rates figure").CountAsync(), Is.EqualTo(cells));
            Assert.That(await watched.Page.Locator(".costs .stack").CountAsync(), Is.EqualTo(cells));
        }
    }

    [Test]
    public async Task Every_link_leads_to_a_part_of_the_page()
    {
        await watched.OpenAsync();

        Assert.That(
            await watched.Page.EvaluateAsync<string[]>(
                "[...document.querySelectorAll('a[href^=\"#\"]')].map(link => link.hash.slice(1)).filter(id => !document.getElementById(id))"),
            Is.Empty);
    }

    [Test]
    public async Task A_figure_leads_to_its_rounds_and_opens_them()
    {
        await watched.OpenAsync();

        await watched.Page.ClickAsync("tr[data-row='bare.postgresql.full-dtc.ado'] .mean-text");

        var rounds = watched.Page.Locator("[id='rounds-bare.postgresql.full-dtc.ado']");
        Assert.That(await rounds.GetAttributeAsync("open"), Is.Not.Null);
        Assert.That(await rounds.InnerTextAsync(), Does.Contain("2026-11-23-29fde72/rounds.jsonl:"));
    }

    [Test]
    public async Task A_link_is_a_view()
    {
        await watched.OpenAsync("mode=shared,full-dtc&framework=bare&scenario=insert");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await watched.ShownRowsAsync(), Is.EqualTo(new[] { "bare.postgresql.shared.ado", "bare.postgresql.full-dtc.ado" }));
            Assert.That(await watched.TextOfAsync("#count"), Is.EqualTo("2 of 42 cells"));
            Assert.That(await watched.Page.Locator("#filter input:checked").CountAsync(), Is.EqualTo(4));
            Assert.That(await watched.Page.Locator("#unknown").IsVisibleAsync(), Is.False);
            Assert.That(await watched.Page.Locator("#rates figure:visible").CountAsync(), Is.EqualTo(2));
        }
    }

    [Test]
    public async Task Chips_narrow_the_table_and_the_address_follows()
    {
        await watched.OpenAsync();

        await watched.Page.CheckAsync("input[name=mode][value=outbox]");
        await watched.Page.CheckAsync("input[name=transport][value=rabbitmq]");
        var narrowed = await watched.ShownRowsAsync();
        await watched.Page.ClickAsync("[data-copy=link]");
        var link = await watched.Page.EvaluateAsync<string>("window.copied");
        await watched.Page.ClickAsync("#all");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(narrowed, Has.Length.EqualTo(2).And.All.Contain("rabbitmq.outbox"));
            Assert.That(link, Does.EndWith("#transport=rabbitmq&mode=outbox"));
            Assert.That(await watched.ShownRowsAsync(), Has.Length.EqualTo(42));
            Assert.That(watched.Page.Url, Does.Not.Contain("#"));
        }
    }

    [TestCase("mode=no-such-mode", "mode no-such-mode")]
    [TestCase("colour=red&mode=shared", "colour red")]
    [TestCase("mode=%E0%A4%A", "mode %E0%A4%A")]
    public async Task A_filter_that_names_what_is_not_there_is_said_and_everything_is_shown(string fragment, string named)
    {
        await watched.OpenAsync(fragment);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await watched.TextOfAsync("#unknown"), Does.Contain(named).And.Contain("All cells are shown"));
            Assert.That(await watched.ShownRowsAsync(), Has.Length.EqualTo(42));
            Assert.That(watched.Complaints, Is.Empty);
        }
    }

    [Test]
    public async Task Page_copies_and_json_have_the_same_figures()
    {
        await watched.OpenAsync("transport=postgresql");
        await watched.Page.ClickAsync("[data-copy=csv]");
        var csv = Lines(await watched.Page.EvaluateAsync<string>("window.copied"));
        await watched.Page.ClickAsync("[data-copy=markdown]");
        var markdown = Lines(await watched.Page.EvaluateAsync<string>("window.copied"));
        var shown = await watched.ShownRowsAsync();
        using var json = JsonDocument.Parse(await File.ReadAllTextAsync(PublishedPage.Json));
        var rows = json.RootElement.GetProperty("rows").EnumerateArray().ToDictionary(row => row.GetProperty("id").GetString()!);

        Assert.That(csv, Has.Count.EqualTo(shown.Length + 1));
        Assert.That(markdown, Has.Count.EqualTo(shown.Length + 2));
        foreach (var (index, id) in shown.Index())
        {
            var speed = rows[id].GetProperty("speed");
            var mean = speed.GetProperty("mean");
            var text = mean.GetProperty("text").GetString()!;
            using (Assert.EnterMultipleScope())
            {
                Assert.That(Figures.Measured(mean.GetProperty("value").GetDouble()), Is.EqualTo(text), id);
                Assert.That(await watched.TextOfAsync($"tr[data-row='{id}'] .mean-text"), Is.EqualTo(text), id);
                Assert.That(markdown[index + 2], Does.Contain($" {text} | {TextIn(speed, "low")} | {TextIn(speed, "high")} |"), id);
                Assert.That(csv[index + 1], Does.Contain($",{Plain(text)},{Plain(TextIn(speed, "low"))},{Plain(TextIn(speed, "high"))},"), id);
            }
        }
    }

    [Test]
    public async Task The_form_gives_the_advice_of_the_command()
    {
        await watched.OpenAsync();
        foreach (var choice in ChoicesOfAPage.For(PublishedPage.View.Rows))
        {
            await watched.Page.CheckAsync($"input[name=rows][value={choice.Rows.Name}]");
            await watched.Page.CheckAsync($"input[name=tolerates][value={choice.Tolerates.Name}]");
            await watched.Page.CheckAsync($"input[name=sees][value={(choice.SeesRows ? "yes" : "no")}]");

            var shown = await watched.Page.EvaluateAsync<string[]>(
                "[...document.querySelectorAll('#advice tbody tr:not(.group)')].filter(row => row.offsetParent)" +
                ".map(row => row.cells[1].querySelector('strong').textContent)");
            Assert.That(shown, Is.EqualTo(choice.Advice.Select(advice => advice.Take)), choice.ToString());
        }
    }

    [Test]
    public async Task The_form_says_what_no_mode_covers_and_whether_the_rate_is_reached()
    {
        await watched.OpenAsync();
        Assert.That(await watched.Page.Locator("#outside").IsVisibleAsync(), Is.False);

        await watched.Page.CheckAsync("input[name=calls][value=yes]");
        await watched.Page.FillAsync("#asked", "1");
        var slow = await DrainsAsync();
        await watched.Page.FillAsync("#asked", "100000");
        var fast = await DrainsAsync();
        await watched.Page.FillAsync("#asked", "-5");
        Assert.That(await DrainsAsync(), Is.All.Empty, "no rate");
        await watched.Page.FillAsync("#asked", "100000");
        await watched.Page.PressAsync("#asked", "Enter");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await watched.Page.Locator("#outside").IsVisibleAsync());
            Assert.That(slow, Is.Not.Empty.And.All.EqualTo("a drain reaches 1/s"));
            Assert.That(fast, Has.Length.EqualTo(slow.Length).And.All.EqualTo("no drain reaches 100,000/s"));
            Assert.That(await DrainsAsync(), Is.EqualTo(fast), "Enter sends nothing");
        }

        Task<string[]> DrainsAsync() => watched.Page.EvaluateAsync<string[]>(
            "[...document.querySelectorAll('#advice .drains')].filter(mark => mark.offsetParent).map(mark => mark.textContent)");
    }

    [Test]
    public async Task Keys_reach_everything_in_the_order_of_the_page()
    {
        await watched.OpenAsync("mode=shared&scenario=insert");
        var order = new List<int>();
        for (var presses = 0; presses < 60; presses++)
        {
            await watched.Page.Keyboard.PressAsync("Tab");
            order.Add(await watched.Page.EvaluateAsync<int>("[...document.querySelectorAll('*')].indexOf(document.activeElement)"));
            if (presses == 0)
                Assert.That(await watched.Page.EvaluateAsync<string>("document.activeElement.className"), Is.EqualTo("skip"));
        }

        Assert.That(order, Is.Ordered.And.Unique);
    }

    [Test]
    public async Task Arrows_lead_from_mark_to_mark_and_show_each_value()
    {
        await watched.OpenAsync();
        var row = PublishedPage.View.Rows[0];
        var marks = watched.Page.Locator($"tr[data-row='{row.Id}'] .strip [data-mark]");

        await marks.First.FocusAsync();
        var first = await watched.TextOfAsync("#tip");
        await watched.Page.Keyboard.PressAsync("ArrowRight");
        var second = await watched.TextOfAsync("#tip");
        await watched.Page.Keyboard.PressAsync("Escape");

        using (Assert.EnterMultipleScope())
        {
            Assert.That(first, Does.Contain(row.Speed!.Mean.Text));
            Assert.That(second, Is.EqualTo($"round 1: {row.Rounds[0].PerSecond.Text} messages per second"));
            Assert.That(await watched.Page.Locator("#tip").IsVisibleAsync(), Is.False);
        }
    }

    [TestCase(Wide, ColorScheme.Light)]
    [TestCase(Wide, ColorScheme.Dark)]
    [TestCase(Narrow, ColorScheme.Light)]
    [TestCase(Narrow, ColorScheme.Dark)]
    public async Task Has_no_serious_barrier(int width, ColorScheme scheme)
    {
        await using var sized = await chromium.NewPageAsync(width, scheme);
        await sized.OpenAsync();
        await sized.Page.EvaluateAsync("for (const fold of document.querySelectorAll('#evidence > details:nth-of-type(-n+3)')) fold.open = true");
        // Not as a script of the page, whose policy allows only its own.
        await sized.Page.EvaluateAsync(await File.ReadAllTextAsync(PublishedPage.In("Tests/Exhaustive/Html/axe-core/axe.min.js")));

        var found = await sized.Page.EvaluateAsync<string[]>(
            """
            async () => (await axe.run(document, { resultTypes: ['violations'] })).violations
              .filter(violation => ['serious', 'critical'].includes(violation.impact))
              .map(violation => `${violation.id}: ${violation.nodes.slice(0, 3).map(node => node.html.slice(0, 200)).join(' … ')}`)
            """);

        Assert.That(found, Is.Empty);
    }

    [TestCase(Wide)]
    [TestCase(Narrow)]
    public async Task Is_no_wider_than_the_window(int width)
    {
        await using var sized = await chromium.NewPageAsync(width);
        await sized.OpenAsync();

        Assert.That(await sized.Page.EvaluateAsync<int>("document.documentElement.scrollWidth"), Is.LessThanOrEqualTo(width));
    }

    [Test]
    public async Task On_paper_there_is_nothing_to_click()
    {
        await watched.OpenAsync();
        await watched.Page.EmulateMediaAsync(new() { Media = Media.Print });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await watched.Page.Locator("nav").IsVisibleAsync(), Is.False);
            Assert.That(await watched.Page.Locator("#filter").IsVisibleAsync(), Is.False);
            Assert.That(await watched.Page.Locator("table.main").IsVisibleAsync(), Is.True);
        }
    }

    private static string Plain(string text) => text.Replace(",", "", StringComparison.Ordinal);

    private static string TextIn(JsonElement speed, string end) => speed.GetProperty(end).GetProperty("text").GetString()!;

    private static List<string> Lines(string text) => [.. text.Split('\n', StringSplitOptions.RemoveEmptyEntries)];
}
