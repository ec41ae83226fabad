using System.Text.Json;
using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Accounts;

/// <summary>
/// The progress of attempts, in a file of JSON lines that outlives the process that writes it. Each line is one unbuffered write: when
/// <see cref="Write"/> has returned, the operating system has the line, and a kill (SIGKILL) cannot lose it. A power failure can.
/// </summary>
/// <remarks>One process at a time writes a file, from any of its threads. After a kill, the next process appends to the same file.</remarks>
public sealed class AttemptJournal : IDisposable
{
    private const byte EndOfLine = (byte)'\n';

    /// <summary>About twenty lines: the current attempts of two workers.</summary>
    private const int End = 4096;

    private static readonly JsonSerializerOptions Format = new(JsonSerializerDefaults.General)
    {
        Converters = { new JsonStringEnumConverter<AttemptPoint>(JsonNamingPolicy.KebabCaseLower) },
        PropertyNamingPolicy = JsonNamingPolicy.CamelCase,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
        RespectNullableAnnotations = true,
        RespectRequiredConstructorParameters = true,
    };

    private readonly FileStream file;
    private readonly Lock writing = new();

    /// <summary>Opens the journal at <paramref name="path"/>, or creates it.</summary>
    /// <exception cref="IOException">The file cannot be opened for writing.</exception>
    /// <exception cref="UnauthorizedAccessException">This user may not write the file.</exception>
    public AttemptJournal(string path)
    {
        var torn = EndsTorn(path);
        file = new FileStream(path, FileMode.Append, FileAccess.Write, FileShare.ReadWrite, bufferSize: 0);

        // An empty line tells the reader that the line before it may be torn.
        if (torn)
            file.Write([EndOfLine, EndOfLine]);
    }

    /// <summary>Appends a line.</summary>
    /// <exception cref="IOException">It cannot be written to the disk.</exception>
    public void Write(AttemptLine line)
    {
        byte[] bytes = [.. JsonSerializer.SerializeToUtf8Bytes(line, Format), EndOfLine];
        lock (writing)
            file.Write(bytes);
    }

    /// <summary>Reads a journal, also while it is written. A line that was torn when its process was killed is skipped.</summary>
    /// <exception cref="FormatException">A line cannot be read, and no kill explains it.</exception>
    /// <exception cref="FileNotFoundException">There is no journal: no process has opened it for writing.</exception>
    public static IReadOnlyList<AttemptLine> Read(string path)
    {
        using var reader = new StreamReader(new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite));
        var lines = reader.ReadToEnd().Split((char)EndOfLine);
        var read = new List<AttemptLine>(lines.Length);

        // The text after the last end of line is empty or torn.
        for (var number = 0; number < lines.Length - 1; number++)
        {
            if (lines[number].Length == 0)
                continue;
            if (Parse(lines[number]) is { } line)
                read.Add(line);
            else if (lines[number + 1].Length > 0 || number + 2 == lines.Length)
                throw new FormatException($"{path}, line {number + 1}: expected an attempt, found '{lines[number]}'.");
        }

        return read;
    }

    /// <summary>Reads only its last lines, as far as they are whole; none if there is no journal.</summary>
    public static IReadOnlyList<AttemptLine> ReadEnd(string path)
    {
        if (!File.Exists(path))
            return [];

        using var stream = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        stream.Position = Math.Max(0, stream.Length - End);
        using var reader = new StreamReader(stream);
        return [.. reader.ReadToEnd().Split((char)EndOfLine).Select(Parse).OfType<AttemptLine>()];
    }

    public void Dispose() => file.Dispose();

    /// <summary>Part of a JSON object cannot be parsed, so a torn line is never read as a whole one.</summary>
    private static AttemptLine? Parse(string line)
    {
        try
        {
            return JsonSerializer.Deserialize<AttemptLine>(line, Format);
        }
        catch (JsonException)
        {
            return null;
        }
    }

    private static bool EndsTorn(string path)
    {
        if (!File.Exists(path))
            return false;

        using var existing = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        if (existing.Length == 0)
            return false;

        existing.Seek(-1, SeekOrigin.End);
        return existing.ReadByte() != EndOfLine;
    }
}

/// <summary>The points that an attempt to handle a message reaches, in order.</summary>
public enum AttemptPoint
{
    /// <summary>The handler was entered.</summary>
    Started,

    /// <summary>The handler has its connection.</summary>
    BeforeInsert,

    /// <summary>The first insert was answered.</summary>
    AfterFirstInsert,

    /// <summary>The second insert was answered.</summary>
    AfterSecondInsert,

    /// <summary>The handler has passed its message to the endpoint, which sends it immediately or later.</summary>
    AfterSend,

    /// <summary>The handler has returned.</summary>
    Returned,

    /// <summary>The attempt has met the fault for which its message was chosen, at any of the other points.</summary>
    Faulted,
}

/// <summary>A server session that an attempt uses.</summary>
/// <param name="ProcessId">The server's process (<c>NpgsqlConnection.ProcessID</c>). Pooled sessions serve many attempts.</param>
/// <param name="TransactionId">
/// Its transaction (<c>pg_current_xact_id()::xid</c>), which serves only one attempt; <see langword="null"/> if it was not read.
/// </param>
public sealed record Backend(int ProcessId, uint? TransactionId = null);

/// <summary>A line of the <see cref="AttemptJournal"/>: one attempt has reached one point.</summary>
/// <param name="AttemptId">New each time the handler is entered.</param>
/// <param name="Backends">The sessions that the attempt uses, as far as known at this point.</param>
/// <param name="Note">The fault that the attempt met, if any.</param>
public sealed record AttemptLine(Guid MessageId, Guid AttemptId, AttemptPoint Point, IReadOnlyList<Backend> Backends, string? Note = null)
{
    /// <summary>Time of the write, by the machine's clock; absent in journals without times.</summary>
    public DateTimeOffset? At { get; init; }
}
