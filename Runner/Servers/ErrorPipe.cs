using System.Diagnostics;

namespace Kit.Runner.Servers;

/// <summary>Reads a process's standard error, from its start to its end, without blank lines.</summary>
internal sealed class ErrorPipe
{
    // A program that the process leaves running holds the pipe open.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    private readonly Task reading;

    /// <param name="process">Its standard error is redirected.</param>
    public ErrorPipe(Process process, LastLines lines) => reading = ReadAsync(process.StandardError, lines);

    /// <summary>Waits until all output of the process is read; it has ended or is about to. At most 10 s.</summary>
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
