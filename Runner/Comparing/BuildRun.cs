using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Comparing;

/// <summary>
/// Runs a build's own <c>run</c> command in a process of its own, and reads what it stored. Nothing is asked of a build but that command
/// and its documents, so that one of last month can be compared.
/// </summary>
/// <param name="build">Whose command.</param>
/// <param name="servers">The variables that name the servers; where passwords are safer than on a command line.</param>
/// <param name="folder">A folder that is made for each run and removed after it.</param>
internal sealed class BuildRun(Build build, IReadOnlyDictionary<string, string?> servers, string folder)
{
    // Its endpoint stops, its databases are dropped; less than the minute that this process has for all after Ctrl+C.
    private static readonly TimeSpan ToStop = TimeSpan.FromSeconds(30);

    /// <summary>Runs it to its end.</summary>
    /// <returns>What it stored, and whether it says that all went well.</returns>
    /// <exception cref="KitException">It refused or broke before it stored anything.</exception>
    /// <exception cref="OperationCanceledException">It was stopped, and has cleaned up.</exception>
    public async Task<(RecordedRun Run, bool Succeeded)> RunAsync(IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        Remove();
        try
        {
            var program = new ExternalProgram(build.Program, Variables: servers) { ToEnd = ToStop };
            var ended = await program.RunAsync(["run", .. arguments, "--no-repeat", "--out", folder], cancellationToken);
            if (!File.Exists(Path.Combine(folder, RunFolder.RunFile)))
                throw Refused(ended);

            return (RunFolder.Open(folder).Load(), ended.Succeeded);
        }
        finally
        {
            Remove();
        }
    }

    private KitException Refused(ProgramResult ended)
    {
        var errors = ended.Output.Split('\n').SkipWhile(line => !line.StartsWith("error: ", StringComparison.Ordinal)).Take(2).ToList();
        return new KitException(
            $"The build in {build.Folder} did not run, and ended with exit code {ended.ExitCode}: "
            + (errors.Count > 0 ? errors[0]["error: ".Length..] : LogLines.EndOf(ended.Output.Split('\n'))),
            errors is [_, var remedy] && remedy.StartsWith("  → ", StringComparison.Ordinal)
                ? remedy["  → ".Length..]
                : $"Run it by itself to see more: {build.Program} run");
    }

    private void Remove()
    {
        if (Directory.Exists(folder))
            Directory.Delete(folder, recursive: true);
    }
}
