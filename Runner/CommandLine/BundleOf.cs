using Kit.Runner.Results;

namespace Kit.Runner.CommandLine;

/// <summary>What the commands say of a bundle.</summary>
internal static class BundleOf
{
    /// <summary>Makes one of a folder.</summary>
    /// <exception cref="KitException">The folder is incomplete or damaged, or the file cannot be written.</exception>
    public static void Write(string folder, string file, TextWriter output)
    {
        var packed = Bundle.Pack(folder, file);
        output.WriteLine($"\nBundle: {file}");
        if (packed.Guarantees is null)
            output.WriteLine($"It has no experiments with faults. To add them: faults --out {folder}, and then: report {folder} --bundle FILE.zip");
    }

    /// <summary>Prints what one holds, and whether its reports are what its rounds and experiments give.</summary>
    /// <returns>The exit code.</returns>
    /// <exception cref="KitException">It is no bundle, or is damaged.</exception>
    public static int Check(string file, TextWriter output)
    {
        using var bundle = Bundle.Open(file);
        bundle.Content.WriteTerminal(output, ReportCommand.Width);
        if (bundle.Content.Differing is { Count: > 0 } differing)
        {
            output.WriteLine($"\nDIFFERS: {string.Join(", ", differing)}: not what the rounds and experiments of the bundle give.");
            return ExitCode.Failure;
        }

        output.WriteLine("\nEvery report of the bundle is what its rounds and experiments give.");
        return ExitCode.Success;
    }
}
