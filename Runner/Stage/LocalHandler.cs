using System.Diagnostics;
using System.Text.Json;
using Kit.Runner.Servers;

namespace Kit.Runner.Stage;

/// <summary>A handler process of this machine, as its operating system sees it.</summary>
internal sealed class LocalHandler : IHandlerLines
{
    private readonly Process process;
    private readonly LastLines lastErrors = new(most: 5);
    private readonly ErrorPipe errors;

    private LocalHandler(Process process)
    {
        this.process = process;
        errors = new ErrorPipe(process, lastErrors);
    }

    public int Id => process.Id;

    /// <inheritdoc cref="Build.RequireInPlace" path="/exception"/>
    public static LocalHandler Start(bool isTiered)
    {
        Build.RequireInPlace();
        var itself = Environment.ProcessPath!;
        var start = new ProcessStartInfo(itself)
        {
            UseShellExecute = false,
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        // Started as "dotnet Kit.Runner.dll", or within a test, this process is not the runner's own program.
        if (Path.GetFileName(itself) != ExternalProgram.FileNameOf(Build.Runner))
            start.ArgumentList.Add(Build.AssemblyIn(AppContext.BaseDirectory));

        start.ArgumentList.Add(HandlerProcess.Command);
        // The variable overrides the build's setting, and replaces the one that this process was started with.
        start.Environment["DOTNET_TieredCompilation"] = isTiered ? "1" : "0";
        return new LocalHandler(Process.Start(start)!);
    }

    public Task OrderAsync(HandlerSpec spec, CancellationToken cancellationToken) => SayAsync(JsonSerializer.Serialize(spec), cancellationToken);

    public async Task SayAsync(string line, CancellationToken cancellationToken)
    {
        try
        {
            await process.StandardInput.WriteLineAsync(line.AsMemory(), cancellationToken);
            await process.StandardInput.FlushAsync(cancellationToken);
        }
        catch (IOException)
        {
            // It has ended; the reading side reports why.
        }
    }

    public Task<string?> HearAsync() => process.StandardOutput.ReadLineAsync();

    public async Task<string> ReadRemedyAsync()
    {
        // Both streams end with the process.
        await errors.EndAsync(CancellationToken.None);
        return lastErrors.Kept is { Count: > 0 } kept
            ? $"Its last output: {string.Join(" | ", kept.Select(line => line.Trim()))}"
            : "Run the cell alone, with --verbose.";
    }

    /// <summary>Kills it with SIGKILL: it can do nothing more.</summary>
    /// <returns>Its exit code: 137 (128 + 9) after a SIGKILL.</returns>
    public async Task<int> KillAsync()
    {
        process.Kill();
        await process.WaitForExitAsync();
        return process.ExitCode;
    }

    /// <summary>Closes its input, and kills it if that does not end it.</summary>
    public Task EndAsync() => ChildProcess.EndAsync(process);

    public ValueTask DisposeAsync()
    {
        process.Dispose();
        return ValueTask.CompletedTask;
    }
}
