using System.ComponentModel;
using System.Text.Json;
using System.Threading.Channels;
using Kit.Runner.Results;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds.Joining;

/// <summary>A handler process that a worker runs for the run. The worker does not wait for it, and says meanwhile that it is there.</summary>
internal sealed class RelayedHandler
{
    private readonly Channel<string> lines = Channel.CreateUnbounded<string>();
    private readonly List<int> handled = [];

    /// <param name="arguments">The servers as this machine reaches them.</param>
    /// <param name="tell">Gets each line of the process; <see langword="null"/>: it has ended.</param>
    /// <param name="note">Tells the user what it has handled.</param>
    public RelayedHandler(TransportArguments arguments, Action<string?> tell, Action<string> note) => Ended = RunAsync(arguments, tell, note);

    /// <summary>Ends with the process.</summary>
    public Task Ended { get; }

    /// <summary>Messages that it has handled in the drains that have ended.</summary>
    public int Handled => handled.Sum();

    /// <param name="line">The order, then lines for the process; <see langword="null"/> ends it.</param>
    public void Obey(string? line)
    {
        if (line is null)
            lines.Writer.TryComplete();
        else
            lines.Writer.TryWrite(line);
    }

    private async Task RunAsync(TransportArguments arguments, Action<string?> tell, Action<string> note)
    {
        try
        {
            var order = JsonSerializer.Deserialize<WorkerOrder>(await lines.Reader.ReadAsync())!;
            var spec = order.SpecWith(arguments);
            await using var process = LocalHandler.Start(order.IsTiered);
            await process.OrderAsync(spec, CancellationToken.None);
            var hearing = HearAsync(process, tell);
            await foreach (var line in lines.Reader.ReadAllAsync())
                await process.SayAsync(line, CancellationToken.None);
            await process.EndAsync();
            await hearing;
            // The drains are the warm-up, then the messages of the round.
            note($"{spec.Cell}: " + handled switch
            {
                [var warmUp, var measured] => $"handled {Messages(measured)}, after {Figures.Count(warmUp)} of the warm-up.",
                [var only] => $"handled {Messages(only)} of the warm-up; the round was ended.",
                _ => "handled no message; the round was ended.",
            });
        }
        catch (Exception failure) when (failure is InvalidOperationException or JsonException or Win32Exception)
        {
            tell(JsonSerializer.Serialize<HandlerEvent>(new HandlerFailed(KitException.MessageOf(failure))));
            tell(obj: null);
        }
    }

    private static string Messages(int count) => count == 1 ? "1 message" : $"{Figures.Count(count)} messages";

    private async Task HearAsync(LocalHandler process, Action<string?> tell)
    {
        while (await process.HearAsync() is { } line)
        {
            // If it is no event, the run says so.
            tell(line);
            if (JsonSerializer.Deserialize<HandlerEvent>(line) is HandlerStopped end)
                handled.Add(end.Report.Handled);
        }

        tell(obj: null);
    }
}
