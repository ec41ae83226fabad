using System.Diagnostics;

namespace Kit.Runner.Rounds;

/// <summary>Hears what a process says on its standard error, from its start to its end. Blank lines are left out.</summary>
internal sealed class ErrorPipe
{
    // What the process leaves running holds the pipe open.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    private readonly Task reading;

    /// <param name="process">Its standard error is redirected.</param>
    /// <param name="lines">Gets the lines.</param>
    public ErrorPipe(Process process, LastLines lines) => reading = ReadAsync(process.StandardError, lines);

    /// <summary>Waits until the process, which has ended or is about to, has said all; 10 s at most.</summary>
    public Task EndAsync(CancellationToken cancellationToken) => Task.WhenAny(reading, Task.Delay(Patience, cancellationToken));

    private static async Task ReadAsync(StreamReader pipe, LastLines lines)
    {
        while (await pipe.ReadLineAsync() is { } line)
        {
            if (!string.IsNullOrWhiteSpace(line))
                lines.Add(line);
        }
    }
}
