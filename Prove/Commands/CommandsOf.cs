using Kit.Prove.Files;

namespace Kit.Prove.Commands;

/// <summary>The commands that a proof file runs, shown before they run: a file from elsewhere can run anything.</summary>
internal static class CommandsOf
{
    public static IEnumerable<string> Lines(ProofFile file)
    {
        yield return $"{file.Path} runs: {TextOf(file.Start)}";
        if (file.Send is SendByCommand(var program))
            yield return $"For each message it runs: {TextOf(program)}";
    }

    // As the file has it. A placeholder stands for a connection string, whose password is not shown.
    private static string TextOf(ProgramToStart program) => $"{string.Join(' ', program.Command.Select(Quoted))} (in {program.Folder})";

    private static string Quoted(string word) => word.Length == 0 || word.Any(char.IsWhiteSpace) ? $"'{word}'" : word;
}
