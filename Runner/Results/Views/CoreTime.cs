namespace Kit.Runner.Results.Views;

/// <summary>
/// The time of all processors together while one message was handled, in milliseconds. A drain at r messages per second on n processors has n / r seconds
/// for each. The record does not say what the processors waited for.
/// </summary>
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

/// <summary>
/// The time of a worker for one message by part, in milliseconds: the mean of the counting rounds. A drain at r messages per second with n
/// workers has n / r seconds for each. Failed attempts are in it; a phase that is measured once for each batch is divided by the batch's messages.
/// </summary>
/// <param name="Receive">Not known where no instrument measures it, and then in the rest.</param>
/// <param name="Commit">Not known where no instrument measures it, and then in the rest.</param>
/// <param name="Rest">The time that no instrument measures.</param>
/// <param name="SecondPhase">Not in the others: it runs while the worker handles the next message.</param>
public sealed record WorkerTime(Figure Receive, Figure Handler, Figure Commit, Figure Rest, Figure SecondPhase)
{
    private const double Millisecond = 1_000;
    private const double Rounding = 0.01;

    /// <returns><see langword="null"/> if the handler was not measured, or if the phases are longer than the time that the workers had.</returns>
    internal static WorkerTime? Of(CellResult cell)
    {
        double? PerMessage(Func<RoundDocument, Durations?> measured) =>
            cell.MeanOf(round => measured(round) is { MeanMilliseconds: { } mean } durations ? mean * durations.Count / round.Messages : null);

        var all = cell.MeanOf(round => round.Concurrency / round.Throughput.AveragePerSecond * Millisecond);
        var receive = PerMessage(round => round.ServiceTime?.Receive);
        var handler = PerMessage(round => round.ServiceTime?.Handler);
        var commit = PerMessage(round => round.ServiceTime?.Commit);
        // Means of rounded figures can exceed the whole by a little.
        return all - (receive ?? 0) - handler - (commit ?? 0) is { } rest && rest >= -Rounding * all
            ? new WorkerTime(
                Figure.Of(receive), Figure.Of(handler), Figure.Of(commit), Figure.Of(Math.Max(0, rest)), Figure.Of(PerMessage(round => round.SecondPhase)))
            : null;
    }
}
