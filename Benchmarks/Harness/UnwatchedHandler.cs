using System.Diagnostics;
using System.Reflection;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Benchmarks.Harness;

/// <summary>The same drain with everything switched off that can be: the runner reads nothing until the endpoint reports that it is done.</summary>
internal sealed class UnwatchedHandler : IContestant
{
    private static readonly TimeSpan Patience = TimeSpan.FromMinutes(10);

    private readonly Process process;
    private readonly HandlerSpec spec;

    private UnwatchedHandler(Process process, HandlerSpec spec)
    {
        this.process = process;
        this.spec = spec;
    }

    public string QueueName => spec.Cell;

    public string QueueDatabase => spec.Transport;

    public double? OwnPerSecond => null;

    public static async Task<IContestant> StartAsync(HandlerSpec spec, CancellationToken cancellationToken)
    {
        var itself = Environment.ProcessPath!;
        var start = new ProcessStartInfo(itself) { UseShellExecute = false, RedirectStandardInput = true, RedirectStandardOutput = true };
        // Started as "dotnet Kit.Benchmarks.dll".
        if (Path.GetFileNameWithoutExtension(itself) == "dotnet")
            start.ArgumentList.Add(Assembly.GetExecutingAssembly().Location);

        start.ArgumentList.Add(UnwatchedProgram.Command);
        var handler = new UnwatchedHandler(Process.Start(start)!, spec);
        await handler.SayAsync(JsonSerializer.Serialize(spec), cancellationToken);
        return handler;
    }

    public async Task DrainAsync(int messages, IMessageQueue queue, CancellationToken cancellationToken)
    {
        if (messages == 0)
            return;

        await SayAsync($"{messages}", cancellationToken);
        var said = await process.StandardOutput.ReadLineAsync(CancellationToken.None).AsTask().WaitAsync(Patience, cancellationToken);
        if (said != UnwatchedProgram.Done)
            throw new KitException("The unwatched endpoint ended before its queue was empty.", "See its output above.");
    }

    /// <summary>Closes the process's input, and kills the process if that does not end it.</summary>
    public async ValueTask DisposeAsync()
    {
        await ChildProcess.EndAsync(process);
        process.Dispose();
    }

    private async Task SayAsync(string line, CancellationToken cancellationToken)
    {
        await process.StandardInput.WriteLineAsync(line.AsMemory(), cancellationToken);
        await process.StandardInput.FlushAsync(cancellationToken);
    }
}
