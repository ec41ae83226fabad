using System.Text.RegularExpressions;

namespace Kit.Runner.Wire;

/// <summary>Lists in the text of a statement whose values are left out: they have as many values as the message asks for.</summary>
internal static partial class ValueLists
{
    /// <summary>A value without its text, or a parameter; with a cast, or without.</summary>
    private const string Value = @"(?:-?(?:'\?'|\?(?:\.\?)?|\$\d+)|NULL\b)(?:::[\w.""]+(?:\[\])?)?";

    /// <summary>A text in parentheses, with parentheses in it that have no others.</summary>
    private const string Row = @"\((?>(?:[^()]+|\([^()]*\))*)\)";

    private const RegexOptions Options = RegexOptions.IgnoreCase | RegexOptions.ExplicitCapture | RegexOptions.CultureInvariant;

    /// <summary>
    /// The text with shortened lists. Of several values in <c>IN (…)</c> or <c>ARRAY[…]</c>, and of rows of <c>VALUES</c> or <c>IN</c> that differ only in the
    /// numbers of their parameters, the first stays, and the others become <c>, …</c>. A single value and a single row stay as they are.
    /// </summary>
    /// <param name="plain">A text without literals and comments. White space is one space.</param>
    public static string Shorten(string plain) => Rows().Replace(Values().Replace(plain, "${begin}, …"), ShortenRows);

    private static string ShortenRows(Match rows)
    {
        var shown = new List<string>();
        string? last = null;
        foreach (var row in rows.Groups["row"].Captures.Select(capture => capture.Value))
        {
            var alike = Parameter().Replace(row, "$$");
            if (alike != last)
                shown.Add(row);
            else if (shown[^1] != "…")
                shown.Add("…");
            last = alike;
        }

        return $"{rows.Groups["begin"].Value}{string.Join(", ", shown)}";
    }

    // None of these tries a text again from behind where it has read it, so that a time-out would only say that the machine is busy.
    [GeneratedRegex($@"(?<begin>\b(?:IN ?\(|ARRAY ?\[) ?{Value})(?> ?, ?{Value})+(?= ?[)\]])", Options, Timeout.Infinite)]
    private static partial Regex Values();

    [GeneratedRegex($@"(?<begin>\b(?:VALUES|IN ?\() ?)(?<row>{Row})(?> ?, ?(?<row>{Row}))+", Options, Timeout.Infinite)]
    private static partial Regex Rows();

    [GeneratedRegex(@"\$\d+", RegexOptions.None, Timeout.Infinite)]
    private static partial Regex Parameter();
}
