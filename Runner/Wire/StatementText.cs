using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Wire;

/// <summary>The text of a statement, without the parts that differ from one handling to the next.</summary>
internal static partial class StatementText
{
    /// <summary>Longer texts are shortened.</summary>
    private const int Most = 240;

    private const int BytesOfHash = 4;

    private const int MostShown = 60;

    /// <summary>Length of the longest text that only decides the transaction, such as <c>COMMIT</c>.</summary>
    public const int MostOfACommand = 32;

    /// <summary>
    /// Comments are left out, literals, numbers and ids become <c>?</c>; any white space is one space. Of a list of values the first is left:
    /// <see cref="ValueLists.Shorten"/>. The time that this takes grows with the length of the text, and no faster. Of a long text the beginning is left, the
    /// tables that the rest writes to, and a hash of the whole, which tells it from others with that beginning.
    /// </summary>
    public static string Normal(string text)
    {
        var plain = LiteralOrComment().Replace(text, match => match.Value[0] switch
        {
            '\'' or '$' => "'?'",
            '"' => match.Value,
            _ => " ",
        });
        var whole = ValueLists.Shorten(Space().Replace(Number().Replace(Hexadecimal().Replace(Uuid().Replace(plain, "?"), "?"), "?"), " ").Trim().TrimEnd(';'));
        return whole.Length > Most ? Shortened(whole) : whole;
    }

    private static string Shortened(string whole)
    {
        var writes = StatementWrites.In(whole).ToList();
        // A name that is cut would be another one.
        var beginning = whole[..Math.Min(Most, writes.Find(write => write.Index < Most && write.Index + write.Length > Most)?.Index ?? Most)].TrimEnd();
        var known = StatementWrites.In(beginning).Select(TableOf).ToHashSet();
        // A COPY that writes is known by what comes after its columns.
        var others = writes.Where(write => known.Add(TableOf(write)))
            .Select(write => write.Value + (write.Value.StartsWith("COPY", StringComparison.OrdinalIgnoreCase) ? " FROM" : ""));
        var hash = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(whole)).AsSpan(0, BytesOfHash));
        return $"{string.Join(" … ", others.Prepend(beginning))} … #{hash}";
    }

    private static string TableOf(Match write) => write.Groups["table"].Value;

    /// <summary>True if one of the statements in a text ended its transaction, or prepared it.</summary>
    /// <param name="text">The answer to a rollback to a savepoint is that to a rollback.</param>
    /// <param name="answers">The server's answers to its statements, so far.</param>
    public static bool HasEndedTransaction(string text, IReadOnlyCollection<string> answers) =>
        answers.Any(answer => answer is "COMMIT" or "PREPARE TRANSACTION")
        || answers.Count(answer => answer is "ROLLBACK") is > 0 and var rollbacks && rollbacks > ToSavepoint().Count(text);

    /// <summary>A text short enough for a sentence.</summary>
    public static string Short(string normal) => normal.Length > MostShown ? $"{normal[..MostShown].TrimEnd()} …" : normal;

    [GeneratedRegex(@"\bROLLBACK\s+(?:WORK\s+|TRANSACTION\s+)?TO\b", RegexOptions.IgnoreCase, Timeout.Infinite)]
    private static partial Regex ToSavepoint();

    [GeneratedRegex(@"\s+", RegexOptions.None, Timeout.Infinite)]
    private static partial Regex Space();

    // One alternative after the other: a literal can have dashes in it, a comment quotes, and a name in quotes an apostrophe. One that has no end ends with
    // the text. So nothing is read twice, and a time-out would only say that the machine is busy.
    [GeneratedRegex(
        @"(?<![\p{L}\d_$])\$(?<tag>[\p{L}_]*)\$[\s\S]*?(?:\$\k<tag>\$|\z)|'(?>(?:[^']+|'')*)'?|""[^""]*""?|--[^\n]*|/\*[\s\S]*?(?:\*/|\z)",
        RegexOptions.None, Timeout.Infinite)]
    private static partial Regex LiteralOrComment();

    // Not of a parameter ($1), and not within a name, unless an underscore is before it.
    [GeneratedRegex(@"(?<![$\p{L}\d])\d+(?!\p{L})|(?<=_)\d+", RegexOptions.None, Timeout.Infinite)]
    private static partial Regex Number();

    // A whole name, or what is between underscores, such as of a temporary table or a savepoint.
    [GeneratedRegex(@"(?<![$\p{L}\d])(?=[a-fA-F]*\d)[0-9a-fA-F]{6,}(?![\p{L}\d])", RegexOptions.None, Timeout.Infinite)]
    private static partial Regex Hexadecimal();

    [GeneratedRegex(@"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}", RegexOptions.None, Timeout.Infinite)]
    private static partial Regex Uuid();
}
