using System.Security;
using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>The questions that lead to a mode, as a picture, by the rules of <see cref="ModeChoice"/>. A question that decides nothing is not asked.</summary>
internal static class ChoiceTree
{
    private const string Picture = "docs/choose.svg";
    private const int Width = 360;
    private const int Margin = 10;
    private const int Indent = 20;
    private const int Line = 17;
    private const int Gap = 11;

    // Widths of characters in pixels, rounded up: fonts differ.
    private const double OfWords = 7.2;
    private const double OfCode = 7.4;

    private static readonly IReadOnlyList<Question> Questions =
    [
        new("Where are the handler's rows?",
            [.. NeedsInWords.Places.Select(place => new Option(place.Meaning, needs => needs with { Rows = place.Value }))]),
        new("What may a crash do to a message?",
            [.. NeedsInWords.Tolerances.Select(tolerance => new Option(tolerance.Meaning, needs => needs with { Tolerance = tolerance.Value }))]),
        new("Must a worker's next message see the last one's rows?",
            [new("no", needs => needs with { SeesRows = false }), new("yes", needs => needs with { SeesRows = true })]),
    ];

    /// <summary>The tree from top to bottom.</summary>
    private static IReadOnlyList<Entry> Entries { get; } = [.. Under(new HandlerNeeds(default, default, SeesRows: false), Questions, 0)];

    public static BlockText Write(BlockSources sources) =>
        new($"<img src=\"{sources.LinkTo(Picture)}\" width=\"{Width}\" alt=\"{Alternative}\">") { Pictures = [(Picture, Svg)] };

    private static string Alternative => string.Join(
        ' ', Entries.Select(entry => entry.IsQuestion ? entry.Text : entry.Mode is { } mode ? $"{entry.Text}: {mode};" : $"{entry.Text}:")).TrimEnd(';') + ".";

    private static string Svg
    {
        get
        {
            var (y, elements, tops) = (Margin, new List<string>(), new Dictionary<int, int>());
            foreach (var entry in Entries)
            {
                var (x, chip) = (Margin + (entry.Depth * Indent), (int)((entry.Mode?.Name.Length * OfCode) + 18 ?? 0));
                var lines = Results.Svg.Wrapped(entry.Text, Width - Margin - x - (chip > 0 ? chip + 10 : 0), OfWords);
                var middle = y + (lines.Count * Line / 2);
                if (entry.IsQuestion)
                    tops[entry.Depth] = y + (lines.Count * Line) + 4;
                else
                    elements.Add($"""<path class="life" d="M{x - 13} {tops[entry.Depth - 1]}V{middle}h8"/>""");
                elements.AddRange(lines.Select((line, at) =>
                    $"""<text x="{x}" y="{y + 13 + (at * Line)}"{(entry.IsQuestion ? " font-weight=\"bold\"" : "")}>{SecurityElement.Escape(line)}</text>"""));
                if (entry.Mode is { } mode)
                {
                    var left = Width - Margin - chip;
                    elements.Add($"""<rect class="right" x="{left}" y="{middle - 11}" width="{chip}" height="22" rx="4"/>""");
                    elements.Add($"""<text class="code" x="{left + (chip / 2)}" y="{middle + 4}" text-anchor="middle" font-weight="bold">{mode}</text>""");
                }

                y += (lines.Count * Line) + Gap;
            }

            return string.Join('\n', Results.Svg.Picture(Width, y, [$"<title>{SecurityElement.Escape(Alternative)}</title>"], elements)) + "\n";
        }
    }

    private static IEnumerable<Entry> Under(HandlerNeeds needs, IReadOnlyList<Question> open, int depth)
    {
        yield return new Entry(depth, open[0].Text, IsQuestion: true, Mode: null);
        foreach (var option in open[0].Options)
        {
            var answered = option.With(needs);
            var left = open.Skip(1).SkipWhile(question => !Decides(question, answered, open.Skip(1))).ToList();
            yield return new Entry(depth + 1, option.Text, IsQuestion: false, left.Count == 0 ? ModeChoice.Of(answered)[0] : null);
            if (left.Count == 0)
                continue;
            foreach (var entry in Under(answered, left, depth + 1))
                yield return entry;
        }
    }

    /// <summary>True if the mode depends on the question, whatever is answered to the others.</summary>
    private static bool Decides(Question question, HandlerNeeds needs, IEnumerable<Question> open) => open.Where(other => other != question)
        .Aggregate<Question, IEnumerable<HandlerNeeds>>([needs], (all, other) => all.SelectMany(one => other.Options.Select(option => option.With(one))))
        .Any(one => question.Options.Select(option => ModeChoice.Of(option.With(one))[0]).Distinct().Count() > 1);

    private sealed record Question(string Text, IReadOnlyList<Option> Options);

    private sealed record Option(string Text, Func<HandlerNeeds, HandlerNeeds> With);

    /// <param name="Mode">Of an answer after which nothing else is asked.</param>
    private sealed record Entry(int Depth, string Text, bool IsQuestion, TransactionMode? Mode);
}
