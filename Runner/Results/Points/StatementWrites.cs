using System.Text.RegularExpressions;

namespace Kit.Runner.Results.Points;

/// <summary>The tables to which a statement writes, as far as its text names them.</summary>
public static partial class StatementWrites
{
    /// <summary>The places at which a statement writes to a table, each with the groups <c>kind</c> and <c>table</c>.</summary>
    public static IEnumerable<Match> In(string normal) => Written().Matches(normal);

    // SELECT … FOR UPDATE and ON CONFLICT DO UPDATE name no table, and a COPY that writes has FROM. A schema is left out, and quotes are.
    [GeneratedRegex(
        @"(?:\b(?<kind>INSERT)\s+INTO|(?<!\b(?:FOR|DO|KEY)\s+)\b(?<kind>UPDATE)(?!\s+SET\b)|\b(?<kind>DELETE)\s+FROM|\b(?<kind>MERGE)\s+INTO"
        + @"|\b(?<kind>COPY)(?=[^(]*?(?:\([^)]*\))?\s*FROM\b))"
        + @"\s+(?:ONLY\s+)?(?:""?[\p{L}_][\p{L}\d_$]*""?\.)?""?(?<table>[\p{L}_][\p{L}\d_$]*)",
        RegexOptions.IgnoreCase, Timeout.Infinite)]
    private static partial Regex Written();
}
