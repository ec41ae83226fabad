using System.Text;
using System.Text.Json;

namespace Kit.Runner.Results;

/// <summary>
/// A file with a document on each line, to which a process appends. If the process dies while it appends, the last line has no end; that
/// line is not read, and the next one replaces it.
/// </summary>
internal sealed class JsonLines(string path)
{
    private const byte End = (byte)'\n';

    /// <exception cref="KitException">The line cannot be appended; the existing content is untouched.</exception>
    public void Append<T>(T document) => AppendedFile.Append(path, Encoding.UTF8.GetBytes(LineOf(document)), EndOfLastWholeLine);

    /// <summary>The complete lines with their places, and a flag for an incomplete one after them.</summary>
    /// <exception cref="KitException">The file may not be read.</exception>
    public (IReadOnlyList<(string Text, string Place)> Whole, bool IsLastCut) Read()
    {
        if (!File.Exists(path))
            return ([], false);

        var lines = StoredFile.Text(path).Split((char)End);
        return ([.. lines.SkipLast(1).Select((text, index) => (text, $"{path}, line {Figures.Plain(index + 1)}"))], lines[^1].Length > 0);
    }

    public static string LineOf<T>(T document) => JsonSerializer.Serialize(document, ResultJson.Lines) + (char)End;

    private static long EndOfLastWholeLine(FileStream stream)
    {
        for (var end = stream.Length; end > 0; end--)
        {
            stream.Position = end - 1;
            if (stream.ReadByte() == End)
                return end;
        }

        return 0;
    }
}
