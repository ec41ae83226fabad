using System.Diagnostics;

namespace Kit.Runner.Servers;

/// <summary>Ends processes that end when their standard input is closed.</summary>
internal static class ChildProcess
{
    /// <summary>The exit code of a process that SIGKILL ended: 128 and the signal's number.</summary>
    public const int Killed = 137;

    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    /// <summary>Closes the input, and kills the process if that does not end it.</summary>
    public static async Task EndAsync(Process process)
    {
        CloseInput(process);
        using var patience = new CancellationTokenSource(Patience);
        try
        {
            await process.WaitForExitAsync(patience.Token);
        }
        catch (OperationCanceledException)
        {
            process.Kill();
            await process.WaitForExitAsync(CancellationToken.None);
        }
    }

    /// <summary>Closes the input, also of a process that has ended and has not read the last line that it was given.</summary>
    public static void CloseInput(Process process)
    {
        try
        {
            process.StandardInput.Close();
        }
        catch (IOException)
        {
            // Nobody is left to read it.
        }
    }
}
