namespace Kit.Runner.Results.Views;

/// <summary>
/// The time of all processors together while one message was handled, in milliseconds. A drain at r messages per second on n processors has n / r seconds
/// for each. The record does not say what the processors waited for.
/// </summary>
/// <param name="Handler">CPU time of the handler's process.</param>
/// <param name="Server">CPU time of the servers' processes.</param>
/// <param name="Others">CPU time of other programs.</param>
/// <param name="Idle">The rest: waits for the log's flush, the network and locks.</param>
public sealed record CoreTime(Figure Handler, Figure Server, Figure Others, Figure Idle)
{
    private const double Millisecond = 1_000;

    /// <returns><see langword="null"/> if one of them was not measured, or their sum is more than the processors have.</returns>
    internal static CoreTime? Of(CellResult cell, int cores)
    {
        var all = cores * Millisecond / cell.Rate?.Mean;
        var handler = cell.MeanOf(round => round.Costs.HandlerCpuMilliseconds.Value);
        var server = cell.MeanOf(round => round.Costs.ServerCpuMilliseconds.Value);
        var others = cell.MeanOf(round => round.Noise.OtherCpuShare.Value) * all;
        return all - handler - server - others is { } idle and >= 0
            ? new CoreTime(Figure.Of(handler), Figure.Of(server), Figure.Of(others), Figure.Of(idle))
            : null;
    }
}
