using System.Text.Json;

namespace Kit.Runner.Servers;

/// <summary>A text that marks something on a server (a database, a virtual host) as the kit's, and identifies its process.</summary>
public static class OwnerMark
{
    private const string Mark = "comparison kit, removable when this process has ended: ";

    /// <summary>The mark of this process.</summary>
    public static string Text { get; } = Mark + JsonSerializer.Serialize(ProcessIdentity.Current);

    /// <summary>True if a mark is the kit's and its process has ended.</summary>
    public static bool IsOfEndedProcess(string text)
    {
        try
        {
            return text.StartsWith(Mark, StringComparison.Ordinal)
                && JsonSerializer.Deserialize<ProcessIdentity>(text[Mark.Length..]) is { HasEnded: true };
        }
        catch (JsonException)
        {
            return false;
        }
    }
}
