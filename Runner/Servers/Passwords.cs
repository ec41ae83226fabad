using System.Text.RegularExpressions;

namespace Kit.Runner.Servers;

/// <summary>Passwords in texts of any kind: addresses, connection strings, command lines, SQL, JSON. They are known by what stands before them.</summary>
internal static partial class Passwords
{
    public const string Masked = "***";

    private const string Secret = "secret";

    private const string Words =
        "(?:password|passwd|passphrase|pwd|psw|secret|token|credential|authorization|api[-_]?key|access[-_]?key|private[-_]?key|(?<![a-z])pass(?![a-z]))";

    // A quote within it is written twice, and in JSON each has a backslash.
    private const string Quoted = @"E?\\*(?<quote>[""'])(?<secret>(?:\k<quote>\k<quote>|(?!\\*\k<quote>).)*)";

    private const RegexOptions Options = RegexOptions.IgnoreCase | RegexOptions.Singleline;

    // In this order: a header has a word before its password, and an address can have one in its query, too.
    private static readonly IReadOnlyList<Regex> Forms = [OfHeader(), OfAddress(), OfSetting(), OfKey(), OfOption(), OfSql()];

    /// <summary>The text with each password masked.</summary>
    public static string Mask(string text) => Forms.Aggregate(text, (masked, form) => form.Replace(masked, MaskIn));

    /// <summary>Every password in a text. One that is only a placeholder is none.</summary>
    public static IEnumerable<string> In(string text) =>
        from form in Forms
        from Match match in form.Matches(text)
        let secret = match.Groups[Secret].Value
        where IsOne(secret)
        // The address that is masked up to its last @ can be a list of addresses.
        from one in form == OfAddress() ? secret.Split('@') is [var first, _, ..] ? new[] { secret, first } : [secret] : [secret]
        select one;

    /// <summary>True if a variable, a header or an option of this name has a password.</summary>
    public static bool AreNamed(string name) => Named().IsMatch(name);

    /// <summary>The parts of a text that are no placeholders.</summary>
    public static IEnumerable<string> WithoutPlaceholders(string text) => Placeholder().Split(text).Where(part => part.Length > 0);

    private static string MaskIn(Match match)
    {
        var secret = match.Groups[Secret];
        return IsOne(secret.Value)
            ? $"{match.Value[..(secret.Index - match.Index)]}{Masked}{match.Value[(secret.Index + secret.Length - match.Index)..]}"
            : match.Value;
    }

    private static bool IsOne(string secret) => secret != Masked && WithoutPlaceholders(secret).Any();

    [GeneratedRegex(Words, Options, Timeout.Infinite)]
    private static partial Regex Named();

    [GeneratedRegex(@"\{\{[^{}]*\}\}", RegexOptions.None, Timeout.Infinite)]
    private static partial Regex Placeholder();

    // postgresql://user:password@host. A password can have @ in it, so it ends at the last one.
    [GeneratedRegex(@"[a-z][\w+.-]*://(?:\{\{[^{}]*\}\}|[^\s/:@""'<>{])*:(?<secret>[^\s""'<>]+)@", Options, Timeout.Infinite)]
    private static partial Regex OfAddress();

    // Password=…; PASSWORD: '…', and password[text]:'…' as a row of a log is shown
    [GeneratedRegex(Words + @"[\w.-]*(?:\[[^\]]*\])?\s*[=:]\s*(?:" + Quoted + @"|(?!\$\d|[?{\[\\])(?<secret>[^\s""';&]+))", Options, Timeout.Infinite)]
    private static partial Regex OfSetting();

    // "PASSWORD": "…", as in JSON. Without quotes around the value it is a sentence about the key.
    [GeneratedRegex(Words + @"[\w.-]*\\*[""']\s*:\s*" + Quoted, Options, Timeout.Infinite)]
    private static partial Regex OfKey();

    // --password … and "--password", "…"
    [GeneratedRegex(@"(?<![\w-])--?[\w-]*?" + Words + @"[\w-]*(?:\s+|\\*[""']\s*,\s*\\*[""'])(?!-)(?<secret>[^\s""',]+)", Options, Timeout.Infinite)]
    private static partial Regex OfOption();

    // CREATE ROLE … PASSWORD '…'
    [GeneratedRegex(@"\b(?:PASSWORD|IDENTIFIED\s+BY)\s+" + Quoted, Options, Timeout.Infinite)]
    private static partial Regex OfSql();

    [GeneratedRegex(@"\b(?:Bearer|Basic)\s+(?<secret>[A-Za-z0-9+/=._~-]{8,})", RegexOptions.None, Timeout.Infinite)]
    private static partial Regex OfHeader();
}
