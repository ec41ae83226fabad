using System.Globalization;
using System.Security;

namespace Kit.Runner.Results;

/// <summary>The style, text and positions of pictures.</summary>
internal static class Svg
{
    // GitHub's colours, light and dark.
    private const string Style =
        """
        text{fill:#1f2328}.ground{fill:#fff}.dim{fill:#59636e}.code{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:12px}
        .title{font-size:15px;font-weight:bold}.bad{fill:#cf222e;font-weight:bold}.good{fill:#1a7f37}
        path{fill:none;stroke:#1f2328;stroke-width:1.5}.life{stroke:#afb8c1}.alive{stroke:#0969da;stroke-width:3}.answer{stroke:#59636e;stroke-dasharray:5 3}
        .head{stroke-dasharray:none}.fault{stroke:#cf222e;stroke-width:2}.kill{stroke:#cf222e;stroke-width:4}.end{stroke:#afb8c1;stroke-dasharray:2 3}
        rect.box{fill:#f6f8fa;stroke:#d0d7de}rect.wrong{fill:#ffebe9;stroke:#cf222e}rect.right{fill:#dafbe1;stroke:#1a7f37}circle{fill:#0969da}
        @media(prefers-color-scheme:dark){
        text{fill:#e6edf3}.ground{fill:#0d1117}.dim{fill:#9198a1}.bad{fill:#ff7b72}.good{fill:#3fb950}
        path{stroke:#e6edf3}.life{stroke:#4d5560}.alive{stroke:#58a6ff}.answer{stroke:#9198a1}.fault,.kill{stroke:#ff7b72}.end{stroke:#4d5560}
        rect.box{fill:#151b23;stroke:#3d444d}rect.wrong{fill:#3a1517;stroke:#ff7b72}rect.right{fill:#12261e;stroke:#3fb950}circle{fill:#58a6ff}
        }
        """;

    /// <summary>A picture with a ground of its own, light or dark as the reader's system is.</summary>
    /// <param name="about">Elements that say in words what it shows.</param>
    /// <param name="elements">The picture itself.</param>
    public static IEnumerable<string> Picture(int width, int height, IEnumerable<string> about, IEnumerable<string> elements) =>
    [
        $"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" """ +
        """font-family="sans-serif" font-size="13">""",
        .. about,
        $"<style>\n{Style.ReplaceLineEndings("\n")}\n</style>",
        $"""<rect class="ground" width="{width}" height="{height}" rx="6"/>""",
        .. elements,
        "</svg>",
    ];

    /// <summary>Writes a picture on the ground of its page, with a title for readers who cannot see it.</summary>
    public static void Write(TextWriter output, int width, int height, string title, IEnumerable<string> elements)
    {
        output.WriteLine($"""<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">""");
        output.WriteLine($"<title>{SecurityElement.Escape(title)}</title>");
        output.WriteLine("""<g stroke-width="1" stroke-linejoin="round" font-family="sans-serif" font-size="10">""");
        foreach (var element in elements)
            output.WriteLine(element);
        output.WriteLine("</g>");
        output.WriteLine("</svg>");
    }

    /// <summary>A label in grey, which can be read on light and on dark ground.</summary>
    /// <param name="x">In pixels.</param>
    /// <param name="y">Of its baseline, in pixels.</param>
    /// <param name="anchor">The part of it at <paramref name="x"/>: start (the default of SVG), middle or end.</param>
    /// <param name="text">Not escaped yet.</param>
    public static string Text(double x, double y, string anchor, string text) =>
        $"""<text x="{Pixels(x)}" y="{Pixels(y)}"{(anchor == "start" ? "" : $" text-anchor=\"{anchor}\"")} fill="#6e7781">""" +
        $"{SecurityElement.Escape(text)}</text>";

    /// <summary>A position with at most two decimals, in every culture.</summary>
    public static string Pixels(double position) => position.ToString("0.##", CultureInfo.InvariantCulture);

    /// <summary>A text in lines that are no wider than some pixels. What does not fit into the last one is left out.</summary>
    public static List<string> Wrapped(string text, int pixels, double ofCharacter, int most = 3)
    {
        var fits = (int)(pixels / ofCharacter);
        var lines = new List<string>();
        var rest = text.Trim();
        while (rest.Length > fits && lines.Count < most - 1)
        {
            var end = rest.LastIndexOf(' ', fits) is > 0 and var space ? space : fits;
            lines.Add(rest[..end]);
            rest = rest[end..].TrimStart();
        }

        lines.Add(rest.Length > fits ? $"{rest[..(fits - 2)]} …" : rest);
        return lines;
    }
}
