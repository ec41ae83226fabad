namespace Kit.Runner.Results;

/// <summary>Words of a command line, as a shell or PowerShell takes them.</summary>
public static class TypedCommand
{
    private const string Plain = @"-_./\:,=@%+*…";

    /// <summary>The words in one line; one with a character that means something to a shell is in quotes.</summary>
    public static string Of(params IEnumerable<string> words) => string.Join(' ', words.Select(Quoted));

    /// <summary>Whether an option is among the words, also with its value in the same word.</summary>
    public static bool Has(IEnumerable<string> words, string option) => words.Any(word => word.Split('=', ':')[0] == option);

    private static string Quoted(string word) =>
        word.Length > 0 && word.All(one => char.IsLetterOrDigit(one) || Plain.Contains(one, StringComparison.Ordinal))
            ? word
            : $"'{word.Replace("'", "'\\''", StringComparison.Ordinal)}'";
}
