using Kit.Runner.Results;

namespace Kit.Runner.CommandLine;

/// <summary>Writes and checks bundles for the commands.</summary>
internal static class BundleOf
{
    /// <summary>Packs a folder into a bundle.</summary>
    /// <exception cref="KitException">The folder is incomplete or damaged, or the file cannot be written.</exception>
    public static void Write(string folder, string file, TextWriter output)
    {
        var packed = Bundle.Pack(folder, file);
        output.WriteLine($"\nBundle: {file}");
        if (packed.Guarantees is null)
            output.WriteLine($"It has no experiments with faults. To add them: faults --out {folder}, and then: report {folder} --bundle FILE.zip");
    }

    /// <summary>Prints a bundle's tables, and whether its reports match its rounds and experiments.</summary>
    /// <returns>The exit code.</returns>
    /// <exception cref="KitException">The file is not a bundle, or is damaged.</exception>
    public static int Check(string file, TextWriter output)
    {
        using var bundle = Bundle.Open(file);
        bundle.Content.WriteTerminal(output, ReportCommand.Width);
        if (bundle.Content.Differing is { Count: > 0 } differing)
        {
            output.WriteLine($"\nDIFFERS: {string.Join(", ", differing)}: no match for the bundle's rounds and experiments.");
            return ExitCode.Failure;
        }

        output.WriteLine("\nEvery report in the bundle matches its rounds and experiments.");
        return ExitCode.Success;
    }
}
