using System.Security;

namespace Kit.Runner.Results.Loads;

/// <summary>
/// The samples of loads, over time. The figures of a load are one below the other, with one time axis and each with its own scale from zero. Where a
/// snapshot was held, the ground is grey.
/// </summary>
/// <param name="samples">In the order of <see cref="LoadFolder.SamplesFile"/>.</param>
internal sealed class SvgOverTime(IReadOnlyList<LoadSample> samples, LoadSettings settings)
{
    /// <summary>The title of the picture, for readers who cannot see it.</summary>
    public const string Name = "Figures of the load over time";

    private const int Left = 60;
    private const int Right = 460;
    private const int Wide = 480;
    private const int Title = 18;
    private const int Label = 16;
    private const int Plot = 48;
    private const int Below = 18;

    /// <summary>The drawn figures, from a sample and the one before it, which the first sample lacks.</summary>
    private static readonly IReadOnlyList<(string Name, Func<LoadSample?, LoadSample, double?> Of)> Drawn =
    [
        ("Out of the queue, messages a second", LeftPerSecond),
        .. new[] { SoakFigure.Queued, SoakFigure.DeadRows, SoakFigure.WorkingSet, SoakFigure.Threads }
            .Select(title => SoakFigure.Sampled.Single(figure => figure.Title == title))
            .Select(figure => (figure.Title, (Func<LoadSample?, LoadSample, double?>)((_, sample) => figure.Of(sample)))),
    ];

    private readonly List<List<LoadSample>> loads = LoadsIn(samples);

    /// <summary>True if there is nothing to draw: no load has two samples.</summary>
    public bool IsEmpty => !loads.Any(HasLine);

    public void Write(TextWriter output)
    {
        var elements = new List<string>();
        var top = 0;
        foreach (var load in loads.Where(HasLine))
        {
            var ofCell = loads.Where(other => other[0].Cell == load[0].Cell).ToList();
            var which = ofCell.Count > 1 ? $", load {Figures.Plain(ofCell.IndexOf(load) + 1)} of {Figures.Plain(ofCell.Count)}" : "";
            elements.Add(Svg.Text(Left, top + 12, "start", $"{load[0].Cell}{which}"));
            top += Title;
            foreach (var (name, of) in Drawn)
            {
                IReadOnlyList<(double At, double? Value)> points = [.. load.Select((sample, at) => (sample.Seconds, of(at > 0 ? load[at - 1] : null, sample)))];
                if (points.Max(point => point.Value) is not > 0)
                    continue;

                elements.AddRange(ElementsOf(name, points, load[^1].Seconds, top));
                top += Label + Plot;
            }

            elements.Add(Svg.Text(Left, top + 12, "start", "0 s"));
            elements.Add(Svg.Text(Right, top + 12, "end", $"{Figures.Measured(load[^1].Seconds)} s"));
            top += Below;
        }

        Svg.Write(output, Wide, top, Name, elements);
    }

    /// <summary>
    /// The samples of each load. A load begins where the cell is another one, or the time begins again. Samples of one load are a second apart or more.
    /// </summary>
    private static List<List<LoadSample>> LoadsIn(IReadOnlyList<LoadSample> samples)
    {
        var found = new List<List<LoadSample>>();
        foreach (var sample in samples)
        {
            if (found.Count == 0 || found[^1][^1] is var last && (last.Cell != sample.Cell || sample.Seconds - last.Seconds < 0.5))
                found.Add([]);
            found[^1].Add(sample);
        }

        return found;
    }

    /// <summary>True if it has two samples. One that was stopped at its first sample has not.</summary>
    private static bool HasLine(List<LoadSample> load) => load.Count > 1;

    /// <summary>Messages that left the queue, also to the error queue. They are counted after the sends, so the difference can be below zero.</summary>
    private static double? LeftPerSecond(LoadSample? before, LoadSample sample) => before?.Seconds < sample.Seconds
        && sample.Sent - before.Sent - (sample.Queued - before.Queued) is { } left
            ? Math.Max(0, left / (sample.Seconds - before.Seconds))
            : null;

    private IEnumerable<string> ElementsOf(
        string name, IReadOnlyList<(double At, double? Value)> points, double seconds, int top)
    {
        var (highest, lower) = (points.Max(point => point.Value)!.Value, top + Label + Plot);
        var range = $"lowest {Figures.Measured(points.Min(point => point.Value))}, highest {Figures.Measured(highest)}";
        yield return $"<g><title>{SecurityElement.Escape($"{name}: {range}")}</title>";
        if (settings is { SnapshotFromSeconds: { } from, SnapshotToSeconds: { } to } && from < seconds)
        {
            var left = X(from, seconds);
            var width = Svg.Pixels(X(Math.Min(to, seconds), seconds) - left);
            yield return $"""<rect x="{Svg.Pixels(left)}" y="{top + Label}" width="{width}" height="{Plot}" fill="#8b949e" fill-opacity="0.2"/>""";
        }

        yield return Svg.Text(Left, top + Label - 4, "start", name);
        yield return Svg.Text(Left - 4, top + Label + 8, "end", Figures.Measured(highest));
        yield return Svg.Text(Left - 4, lower, "end", "0");
        yield return $"""<path d="M{Left},{top + Label}V{lower}H{Right}" fill="none" stroke="#8b949e"/>""";
        // What no server could say is a gap. A value between two gaps is a dot: a line without length, with round ends.
        var line = string.Concat(
            from point in points.Index()
            where point.Item.Value is not null
            let place = $"{Svg.Pixels(X(point.Item.At, seconds))},{Svg.Pixels(lower - (Plot * point.Item.Value!.Value / highest))}"
            select point.Index > 0 && points[point.Index - 1].Value is not null ? $"L{place}" : $"M{place}h0");
        yield return $"""<path d="{line}" fill="none" stroke="#0072b2" stroke-width="1.5" stroke-linecap="round"/>""";
        yield return "</g>";
    }

    private static double X(double at, double seconds) => Left + ((Right - Left) * at / seconds);
}
