using System.Diagnostics;

namespace Kit.Runner.Rounds;

/// <summary>How a process that ends with its standard input is ended.</summary>
internal static class ChildProcess
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(5);

    /// <summary>Closes the input, and ends the process by force when it does not end with it.</summary>
    public static async Task EndAsync(Process process)
    {
        process.StandardInput.Close();
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
}
