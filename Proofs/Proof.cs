using System.Diagnostics;
using System.Globalization;

namespace Kit.Proofs;

/// <summary>
/// The proof of what an application promises. The tool <c>kit-prove</c> starts the application as a process on servers of its own, crashes it around each
/// request of one handling, and reads what became of the message. A proof takes minutes: a <see cref="Budget"/> limits it.
/// </summary>
public sealed record Proof
{
    /// <summary>The environment variable that names the program that proves.</summary>
    public const string RunnerVariable = "KIT_RUNNER";

    private const string Script = "run.sh";
    private const string StopsWithInput = "KIT_STOPS_WITH_INPUT";

    /// <summary>How the runner begins a line about an error that ended it.</summary>
    private const string Error = "error: ";

    private const int Kept = 0;
    private const int NotKept = 1;

    private static readonly TimeSpan ToStop = TimeSpan.FromSeconds(60);

    private readonly string file;
    private readonly string? program;

    private Proof(string file, string? program) => (this.file, this.program) = (Path.GetFullPath(file), program);

    /// <summary>
    /// The program that proves: <c>run.sh</c> in a clone of the kit, or <c>kit-prove</c>. By default what the environment variable <c>KIT_RUNNER</c>
    /// names, and without it the tool <c>TransactionModes.Prove</c> of the nearest tool manifest.
    /// </summary>
    public string? Runner { get; init; } = Environment.GetEnvironmentVariable(RunnerVariable);

    /// <summary>
    /// After this time no new experiment begins. What finds most comes first. From 10 seconds to 24 hours; fractions of a second are left out.
    /// <see langword="null"/>: there is no limit.
    /// </summary>
    public TimeSpan? Budget { get; init; }

    /// <summary>The token of the only experiment to make, such as <c>orders@7:b</c>; <see langword="null"/>: all.</summary>
    public string? Only { get; init; }

    /// <summary>
    /// The folder for the report. An existing one is resumed, and refused if it leaves nothing to try. <see langword="null"/>: a new one among the temporary
    /// files, which stays.
    /// </summary>
    public string? Folder { get; init; }

    /// <param name="path">The proof file; relative to the current folder.</param>
    public static Proof OfFile(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        return new Proof(path, program: null);
    }

    /// <summary>
    /// The proof of a program that the test project references: it is started with <c>dotnet</c> from the folder of the tests, instead of the command in
    /// the file. If <c>send</c> begins with the same command, it starts that program, too.
    /// </summary>
    /// <typeparam name="TProgram">Any type of the program.</typeparam>
    /// <param name="path">The proof file; relative to the current folder.</param>
    public static Proof Of<TProgram>(string path)
    {
        ArgumentException.ThrowIfNullOrEmpty(path);
        return new Proof(path, typeof(TProgram).Assembly.Location);
    }

    /// <summary>Runs it to its end. The application and the servers are gone then, also if it is cancelled.</summary>
    /// <exception cref="ProofException">
    /// The runner is missing or of another version, or nothing could be proved. Then the message is the runner's own.
    /// </exception>
    /// <exception cref="OperationCanceledException">It was cancelled. The folder has what was done.</exception>
    public async Task<ProofResults> RunAsync(CancellationToken cancellationToken = default)
    {
        var folder = Path.GetFullPath(Folder ?? Path.Combine(Path.GetTempPath(), $"proof-{Guid.CreateVersion7():N}"));
        if (Only is null && ProofResults.TryRead(folder) is { IsWhole: true })
            throw new ProofException($"{folder} has a whole proof, so nothing would be tried. Name a new folder, or none.");

        var (code, output, hasFailed) = await RunAsync([.. ArgumentsFor(folder)], cancellationToken).ConfigureAwait(false);
        cancellationToken.ThrowIfCancellationRequested();
        // A folder that was there before has results also if this proof failed. They can be of a broken promise, whose exit code is that of a failure.
        return !hasFailed && ProofResults.TryRead(folder) is { } results && code == (results.IsKept ? Kept : NotKept)
            ? results
            : throw new ProofException(output);
    }

    private IEnumerable<string> ArgumentsFor(string folder)
    {
        // The script of a clone starts every program of the kit. Anything else is the one that proves.
        if (Path.GetFileName(Runner) == Script)
            yield return "prove";
        yield return file;
        yield return "--out";
        yield return folder;
        if (program is not null)
        {
            yield return "--start";
            yield return program;
        }

        if (Budget is { } budget)
        {
            yield return "--budget";
            yield return string.Create(CultureInfo.InvariantCulture, $"{(int)budget.TotalSeconds}s");
        }

        if (Only is { } only)
        {
            yield return "--only";
            yield return only;
        }
    }

    private async Task<(int Code, string Output, bool HasFailed)> RunAsync(IReadOnlyList<string> arguments, CancellationToken cancellationToken)
    {
        using var runner = Start(arguments);
        var (output, errors) = (runner.StandardOutput.ReadToEndAsync(CancellationToken.None), runner.StandardError.ReadToEndAsync(CancellationToken.None));
        try
        {
            await runner.WaitForExitAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            await StopAsync(runner).ConfigureAwait(false);
        }

        var said = await errors.ConfigureAwait(false);
        return (
            runner.ExitCode,
            said.Length > 0 ? said : await output.ConfigureAwait(false),
            said.Split('\n').Any(line => line.StartsWith(Error, StringComparison.Ordinal)));
    }

    private Process Start(IEnumerable<string> arguments)
    {
        var start = StartOf(arguments);
        start.UseShellExecute = false;
        start.RedirectStandardInput = true;
        start.RedirectStandardOutput = true;
        start.RedirectStandardError = true;
        start.Environment[StopsWithInput] = "1";
        try
        {
            return Process.Start(start)!;
        }
        catch (System.ComponentModel.Win32Exception failure)
        {
            throw new ProofException(
                $"{start.FileName} cannot be started: {failure.Message}. {RunnerVariable} has to name kit-prove, or run.sh of a clone of the kit.", failure);
        }
    }

    private ProcessStartInfo StartOf(IEnumerable<string> arguments)
    {
        if (!string.IsNullOrEmpty(Runner))
            return new ProcessStartInfo(Runner, arguments);

        return ToolManifest.Find(Path.GetDirectoryName(file)!) is { } manifest
            ? new ProcessStartInfo("dotnet", ["tool", "run", ToolManifest.Command, "--", .. arguments]) { WorkingDirectory = manifest.Folder }
            : throw new ProofException(
                $"There is no program that proves. Install it (dotnet new tool-manifest, dotnet tool install {ToolManifest.Package}); " +
                $"or clone the kit, and let the environment variable {RunnerVariable} name its run.sh.");
    }

    /// <summary>It stops its servers when its input ends, as at Ctrl+C. A signal would not pass through <c>dotnet tool run</c>.</summary>
    private static async Task StopAsync(Process runner)
    {
        runner.StandardInput.Close();
        using var patience = new CancellationTokenSource(ToStop);
        await runner.WaitForExitAsync(patience.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        if (!runner.HasExited)
            runner.Kill(entireProcessTree: true);
        await runner.WaitForExitAsync(CancellationToken.None).ConfigureAwait(false);
    }
}
