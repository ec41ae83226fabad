using System.Diagnostics;

namespace Kit.Benchmarks.Harness;

/// <summary>
/// Takes this process's CPU time whenever progress is told, so between the first and the last report of a drain: what the runner takes
/// from the endpoint while it works. The samples of the machine before and after a drain are outside of it, as they are outside of its clock.
/// </summary>
internal sealed class CpuMeter
{
    private (TimeSpan At, TimeSpan Cpu)? first;
    private (TimeSpan At, TimeSpan Cpu) last;

    /// <summary>CPU time as a part of one core, 0 to 1; <see langword="null"/> where there were not two reports.</summary>
    public double? CoreShare => first is { } start && last.At > start.At ? (last.Cpu - start.Cpu) / (last.At - start.At) : null;

    /// <summary>A new drain: forgets the one before.</summary>
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
