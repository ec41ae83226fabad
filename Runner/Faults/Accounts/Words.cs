using System.Text.Json;

namespace Kit.Runner.Faults.Accounts;

/// <summary>Names in texts, as the command line and the journal write them: <c>in-doubt</c>, <c>after-insert</c>.</summary>
internal static class Words
{
    public static string Of<T>(T value) where T : struct, Enum => JsonNamingPolicy.KebabCaseLower.ConvertName(value.ToString());
}
