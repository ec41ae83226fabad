using System.Diagnostics;

namespace Kit.Benchmarks.Harness;

/// <summary>
/// Reads this process's CPU time at each progress report. Between the first and the last report of a drain, that is what the runner takes
/// from the endpoint. Samples of the machine before and after a drain are not part of it, nor of the drain's clock.
/// </summary>
internal sealed class CpuMeter
{
    private (TimeSpan At, TimeSpan Cpu)? first;
    private (TimeSpan At, TimeSpan Cpu) last;

    /// <summary>CPU time as a share of one core, 0 to 1; <see langword="null"/> with fewer than two reports.</summary>
    public double? CoreShare => first is { } start && last.At > start.At ? (last.Cpu - start.Cpu) / (last.At - start.At) : null;

    /// <summary>Starts a new drain and forgets the previous one.</summary>
    public IProgress<int> Around(IProgress<int> progress)
    {
        first = null;
        return new Tap(this, progress);
    }

    private sealed class Tap(CpuMeter meter, IProgress<int> progress) : IProgress<int>
    {
        public void Report(int value)
        {
            progress.Report(value);
            meter.last = (Stopwatch.GetElapsedTime(0), Environment.CpuUsage.TotalTime);
            meter.first ??= meter.last;
        }
    }
}
