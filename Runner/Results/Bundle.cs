using System.IO.Compression;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results;

/// <summary>
/// One file of a run and, where there are some, of its experiments with faults: the files of their folder as they are, and nothing else. A
/// contributor hands it in. Reading it applies the checks of packing it.
/// </summary>
public sealed class Bundle : IDisposable
{
    /// <summary>How its name ends.</summary>
    public const string Extension = ".zip";

    /// <summary>Unpacked; many times what a run of every cell takes.</summary>
    private const long MostBytes = 256L * 1024 * 1024;

    private const string HowToMake = "Make it again with: report FOLDER --bundle FILE.zip";

    private readonly string unpacked;

    private Bundle(string unpacked, ResultFolder content) => (this.unpacked, Content) = (unpacked, content);

    /// <summary>What it holds.</summary>
    public ResultFolder Content { get; }

    /// <summary>Where it goes unless another file is named: by the name of the run's folder.</summary>
    public static string DefaultPathOf(string folder) =>
        Path.Combine("results", "submitted", Path.GetFileName(Path.TrimEndingDirectorySeparator(Path.GetFullPath(folder))) + Extension);

    /// <summary>Packs a folder after it was read and its reports were computed again.</summary>
    /// <returns>What is packed.</returns>
    /// <exception cref="KitException">
    /// The folder holds no run, one that is not complete or is damaged, or reports that its rounds do not give; or the file is there or cannot be
    /// written.
    /// </exception>
    public static ResultFolder Pack(string folder, string file)
    {
        var content = ResultFolder.Load(folder);
        if (WhyNot(content) is { } because)
            throw new KitException($"{folder} cannot be bundled: {because}.", "A bundle is a complete run: run again, or name another folder.");
        if (content.Differing is { Count: > 0 } differing)
        {
            throw new KitException(
                $"{folder} cannot be bundled: {string.Join(", ", differing)} is missing, or is not what its rounds and experiments give.",
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

    /// <exception cref="KitException">The file is there.</exception>
    public static void RequireNew(string folder, string file)
    {
        if (Path.Exists(file))
            throw new KitException($"{file} is already there.", $"Remove it, or name another file: report {folder} --bundle FILE.zip");
    }

    /// <summary>Reads anybody's bundle: unpacks it to a folder of its own, which goes with it, and loads what is there.</summary>
    /// <exception cref="KitException">
    /// It is no bundle, lacks a file or has another one, is too large, its run is not complete, or a document is damaged.
    /// </exception>
    public static Bundle Open(string file)
    {
        var folder = Directory.CreateTempSubdirectory("kit-bundle-").FullName;
        try
        {
            Unpack(file, folder);
            var content = ResultFolder.Load(folder);
            return WhyNot(content) is { } because
                ? throw new KitException($"{file} is no bundle of a complete run: {because}.", HowToMake)
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
        { Run: null } => "there is no run in it",
        { Run.Document.Ending: { State: not RunState.Completed } ending } => $"its run is not complete ({ending})",
        { Run.RoundLeftOut: { } leftOut } => leftOut.TrimEnd('.'),
        { Guarantees.Outstanding: > 0 and var outstanding } =>
            $"{Figures.Count(outstanding)} experiments with faults were not made; the command that was to make them is in {FaultFolder.DocumentFile}",
        { Guarantees.IsOneCut: true } => "an experiment was not saved whole; go on with them first: faults --out FOLDER",
        _ => null,
    };

    private static IEnumerable<string> NamesOf(ResultFolder content) =>
        content.Guarantees is null ? RunFolder.Files : [.. RunFolder.Files, .. FaultFolder.Files];

    // A name in an archive can be any path. Only those of a run's files are taken, and none is used to make a path before that.
    private static void Unpack(string file, string folder)
    {
        using var archive = ZipFile.OpenRead(file);
        var names = archive.Entries.Select(entry => entry.FullName).ToList();
        var known = RunFolder.Files.Concat(FaultFolder.Files).ToList();
        if (names.Except(known, StringComparer.Ordinal).FirstOrDefault() is { } other)
            throw new KitException($"{file} holds '{other}', which is no file of a run.", HowToMake);
        if (names.Distinct(StringComparer.Ordinal).Count() != names.Count)
            throw new KitException($"{file} holds a file twice.", HowToMake);
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

    // What an archive says of the length of a file need not be true.
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
