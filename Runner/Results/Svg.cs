using System.Globalization;
using System.Security;

namespace Kit.Runner.Results;

/// <summary>Labels and positions in the pictures of runs and loads.</summary>
internal static class Svg
{
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
}
