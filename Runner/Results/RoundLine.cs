namespace Kit.Runner.Results;

/// <summary>One round in one line.</summary>
public static class RoundLine
{
    public static string Of(RoundDocument round) =>
        $"{round.Name}: {Figures.Measured(round.Throughput.AveragePerSecond)} msg/s, {round.Outcome}"
        + (round.Outcome.IsValid() ? "" : $" ({string.Join("; ", round.Outcome.Reasons)})")
        + (round.Noise.IsDiskNoisy() ? $", noisy: a flush took {Figures.Measured(round.Noise.FlushRatio)} times as long as before the run" : "")
        + (round.Noise.AreProcessorsNoisy() ? $", noisy: other processes took {Figures.Share(round.Noise.OtherCpuShare.Value!.Value)}" : "");
}
