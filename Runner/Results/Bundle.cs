using System.IO.Compression;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results;

/// <summary>
/// One file with a run and its experiments with faults, if there are any: the unchanged files of their folder, and nothing else. A
/// contributor hands it in. Reading it applies the same checks as packing it.
/// </summary>
public sealed class Bundle : IDisposable
{
    /// <summary>The extension of its name.</summary>
    public const string Extension = ".zip";

    /// <summary>The limit when unpacked: many times the size of a run of every cell.</summary>
    private const long MostBytes = 256L * 1024 * 1024;

    private const string HowToMake = "Create it again with: report FOLDER --bundle FILE.zip";

    private readonly string unpacked;

    private Bundle(string unpacked, ResultFolder content) => (this.unpacked, Content) = (unpacked, content);

    /// <summary>Its content.</summary>
    public ResultFolder Content { get; }

    /// <summary>The default file, named after the run's folder.</summary>
    public static string DefaultPathOf(string folder) =>
        Path.Combine("results", "submitted", Path.GetFileName(Path.TrimEndingDirectorySeparator(Path.GetFullPath(folder))) + Extension);

    /// <summary>Packs a folder after reading it and recomputing its reports.</summary>
    /// <returns>The packed content.</returns>
    /// <exception cref="KitException">
    /// The folder contains no run, one that is incomplete or damaged, or reports that do not match its rounds; or the file exists or cannot
    /// be written.
    /// </exception>
    public static ResultFolder Pack(string folder, string file)
    {
        var content = ResultFolder.Load(folder);
        if (WhyNot(content) is { } because)
            throw new KitException($"{folder} cannot be bundled: {because}.", "A bundle is a complete run: run again, or name another folder.");
        if (content.Differing is { Count: > 0 } differing)
        {
            throw new KitException(
                $"{folder} cannot be bundled: {string.Join(", ", differing)} is missing, or does not match its rounds and experiments.",
                $"Write them again with: report {folder}");
        }

        RequireNew(folder, file);
        WholeFile.WriteBytes(file, stream =>
        {
            using var archive = new ZipArchive(stream, ZipArchiveMode.Create, leaveOpen: true);
            foreach (var name in NamesOf(content))
                archive.CreateEntryFromFile(Path.Combine(folder, name), name, CompressionLevel.SmallestSize);
        });
        return content;
    }

    /// <exception cref="KitException">The file exists.</exception>
    public static void RequireNew(string folder, string file)
    {
        if (Path.Exists(file))
            throw new KitException($"{file} already exists.", $"Remove it, or name another file: report {folder} --bundle FILE.zip");
    }

    /// <summary>Reads a bundle from any source: unpacks it to a temporary folder, which disposing removes, and loads that.</summary>
    /// <exception cref="KitException">
    /// It is not a bundle, lacks a file or has another one, is too large, its run is not complete, or a document is damaged.
    /// </exception>
    public static Bundle Open(string file)
    {
        var folder = Directory.CreateTempSubdirectory("kit-bundle-").FullName;
        try
        {
            Unpack(file, folder);
            var content = ResultFolder.Load(folder);
            return WhyNot(content) is { } because
                ? throw new KitException($"{file} is not a bundle of a complete run: {because}.", HowToMake)
                : new Bundle(folder, content);
        }
        catch (Exception failure)
        {
            Directory.Delete(folder, recursive: true);
            throw failure switch
            {
                KitException known => new KitException(known.Message.Replace(folder, file, StringComparison.Ordinal), known.Remedy, known),
                InvalidDataException or IOException or UnauthorizedAccessException => new KitException(
                    $"Cannot read {file}: {failure.Message}", HowToMake, failure),
                _ => failure,
            };
        }
    }

    public void Dispose() => Directory.Delete(unpacked, recursive: true);

    private static string? WhyNot(ResultFolder content) => content switch
    {
        { Run: null } => "it contains no run",
        { Run.Document.Ending: { State: not RunState.Completed } ending } => $"its run is not complete ({ending})",
        { Run.RoundLeftOut: { } leftOut } => leftOut.TrimEnd('.'),
        { Guarantees.Outstanding: > 0 and var outstanding } =>
            $"{Figures.Count(outstanding)} experiments with faults are outstanding; their command is in {FaultFolder.DocumentFile}",
        { Guarantees.IsOneCut: true } => "an experiment was not saved completely; resume them first: faults --out FOLDER",
        _ => null,
    };

    private static IEnumerable<string> NamesOf(ResultFolder content) =>
        content.Guarantees is null ? RunFolder.Files : [.. RunFolder.Files, .. FaultFolder.Files];

    // A name in an archive can be any path. Only names of a run's files are accepted, and no path is made from a name before that check.
    private static void Unpack(string file, string folder)
    {
        using var archive = ZipFile.OpenRead(file);
        var names = archive.Entries.Select(entry => entry.FullName).ToList();
        var known = RunFolder.Files.Concat(FaultFolder.Files).ToList();
        if (names.Except(known, StringComparer.Ordinal).FirstOrDefault() is { } other)
            throw new KitException($"{file} contains '{other}', which is not a file of a run.", HowToMake);
        if (names.Distinct(StringComparer.Ordinal).Count() != names.Count)
            throw new KitException($"{file} contains a file twice.", HowToMake);
        var expected = names.Intersect(FaultFolder.Files, StringComparer.Ordinal).Any() ? known : RunFolder.Files;
        if (expected.Except(names, StringComparer.Ordinal).ToList() is { Count: > 0 } missing)
            throw new KitException($"{file} lacks {string.Join(", ", missing)}.", HowToMake);

        var left = MostBytes;
        foreach (var entry in archive.Entries)
        {
            using var packed = entry.Open();
            using var target = File.Create(Path.Combine(folder, entry.FullName));
            left -= Copy(packed, target, left);
        }
    }

    // The length of a file in an archive's directory may be wrong.
    private static long Copy(Stream from, Stream to, long most)
    {
        var buffer = new byte[81_920];
        var copied = 0L;
        for (int read; (read = from.Read(buffer)) > 0; to.Write(buffer, 0, read))
        {
            copied += read;
            if (copied > most)
                throw new InvalidDataException($"it is larger than {Figures.Count(MostBytes / 1024 / 1024)} MiB");
        }

        return copied;
    }
}
