using System.Text.RegularExpressions;

namespace Kit.Prove.Files;

/// <summary>Statements that change more than their database: the roles, databases and settings of the whole server.</summary>
internal static partial class WholeServer
{
    /// <summary>True if a text begins a statement with one, also within a block or a dynamic statement. Memberships are granted without ON.</summary>
    public static bool IsChangedBy(string sql) => Beginning().IsMatch(sql);

    // Words in other places are data.
    [GeneratedRegex(
        @"(?:\A|;|\$\w*\$|\b(?:BEGIN|THEN|ELSE|LOOP)\b|\b(?:EXECUTE|format)\s*\(?\s*')(?:\s|--[^\n]*\n|/\*[\s\S]*?\*/)*" +
        @"(?:(?:CREATE|ALTER|DROP)\s+(?:ROLE|GROUP|USER(?!\s+MAPPING)|DATABASE|TABLESPACE|SYSTEM)|(?:GRANT|REVOKE)\b(?![^;]*\bON\b))\b",
        RegexOptions.IgnoreCase, Timeout.Infinite)]
    private static partial Regex Beginning();
}
