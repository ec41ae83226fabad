using Kit.Runner.Servers;

namespace Kit.Tests.Documentation;

/// <summary>The spelling checker of this machine, with its British dictionary.</summary>
internal static class Hunspell
{
    private const string Name = "hunspell";

    /// <summary>
    /// Those of <paramref name="words"/> that it does not know. The test is ignored, with the reason, on a machine without it or without the
    /// dictionary.
    /// </summary>
    public static async Task<IReadOnlySet<string>> UnknownAsync(IEnumerable<string> words)
    {
        if (ExternalProgram.OnSearchPath(Name) is not { } path)
        {
            Ignore("hunspell");
            return new HashSet<string>();
        }

        using var process = new ExternalProgram(path).StartOnPipes(["-d", "en_GB", "-i", "UTF-8", "-l"]);
        var output = process.StandardOutput.ReadToEndAsync();
        var errors = process.StandardError.ReadToEndAsync();
        await process.StandardInput.WriteAsync(string.Join('\n', words.Distinct(StringComparer.Ordinal)) + "\n");
        process.StandardInput.Close();
        await process.WaitForExitAsync();
        if (process.ExitCode != 0)
            Ignore($"British dictionary of hunspell ({(await errors).Trim()})");

        return (await output).Split('\n', StringSplitOptions.RemoveEmptyEntries).ToHashSet(StringComparer.Ordinal);
    }

    private static void Ignore(string lacking) =>
        Assert.Ignore($"This machine has no {lacking} (on Debian and Ubuntu: apt-get install hunspell hunspell-en-gb).");
}
