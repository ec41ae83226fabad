using System.Text.RegularExpressions;
using Kit.Prove.Files;

namespace Kit.Prove.Commands;

/// <summary>The commands that a proof file runs, shown before they run: a file from elsewhere can run anything.</summary>
internal static partial class CommandsOf
{
    public static IEnumerable<string> Lines(ProofFile file)
    {
        yield return $"{file.Path} runs: {TextOf(file.Start)}";
        if (file.Send is SendByCommand(var program))
            yield return $"For each message it runs: {TextOf(program)}";
        foreach (var later in file.Later.OfType<LaterCommand>())
            yield return $"To let leases become old it runs: {TextOf(later.Program)}";
        foreach (var sql in file.Sql.Where(sql => Program().IsMatch(sql)))
            yield return $"The server runs a program in: {sql}";
    }

    // As the file has it. A placeholder stands for a connection string, whose password is not shown.
    private static string TextOf(ProgramToStart program) => $"{string.Join(' ', program.Command.Select(Quoted))} (in {program.Folder}" +
        (program.Environment.Count == 0 ? ")" : $", with {string.Join(", ", program.Environment.Keys)})");

    private static string Quoted(string word) => word.Length == 0 || word.Any(char.IsWhiteSpace) ? $"'{word}'" : word;

    [GeneratedRegex(@"\bPROGRAM\b", RegexOptions.IgnoreCase, Timeout.Infinite)]
    private static partial Regex Program();
}
