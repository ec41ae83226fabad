using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Kit.Runner.Measuring;

/// <summary>
/// The moments of a load, on the clock of its sender. One thread sleeps until the next of them, because <see cref="Task.Delay(TimeSpan)"/> can end several
/// milliseconds late.
/// </summary>
internal sealed class Moments : IDisposable
{
    /// <summary>An earlier moment interrupts a wait of this length or longer. On Linux the thread sleeps through a shorter one.</summary>
    private static readonly TimeSpan Shortest = TimeSpan.FromMilliseconds(1);

    private readonly Stopwatch watch;
    private readonly object changed = new();
    private readonly PriorityQueue<TaskCompletionSource, TimeSpan> waiting = new();
    private readonly Thread thread;
    private bool isOver;

    /// <param name="watch">The clock. It runs before anybody waits.</param>
    public Moments(Stopwatch watch)
    {
        this.watch = watch;
        thread = new Thread(Run) { IsBackground = true, Name = "moments of a load" };
        thread.Start();
    }

    /// <summary>Waits until a moment, and never shorter: a message that is sent early would seem faster than it is.</summary>
    /// <exception cref="OperationCanceledException">It was stopped, or disposed during the wait.</exception>
    /// <exception cref="ObjectDisposedException">It is disposed.</exception>
    public async Task WaitForAsync(TimeSpan due, CancellationToken stop)
    {
        if (due <= watch.Elapsed)
            return;

        var come = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using var stopped = stop.Register(() => come.TrySetCanceled(stop));
        lock (changed)
        {
            ObjectDisposedException.ThrowIf(isOver, this);
            waiting.Enqueue(come, due);
            if (waiting.Peek() == come)
                Monitor.Pulse(changed);
        }

        await come.Task;
    }

    /// <summary>Ends the thread, and each wait as cancelled.</summary>
    public void Dispose()
    {
        lock (changed)
        {
            isOver = true;
            Monitor.Pulse(changed);
        }

        thread.Join();
        foreach (var (come, _) in waiting.UnorderedItems)
            come.TrySetCanceled();
    }

    private void Run()
    {
        lock (changed)
        {
            while (!isOver)
            {
                if (!waiting.TryPeek(out var next, out var due))
                    Monitor.Wait(changed);
                else if (due - watch.Elapsed is var left && left <= TimeSpan.Zero)
                    waiting.Dequeue().TrySetResult();
                else if (next.Task.IsCompleted)
                    waiting.Dequeue();
                else if (left >= Shortest)
                    Monitor.Wait(changed, (int)Math.Min(left.TotalMilliseconds, int.MaxValue));
                else
                    SleepThrough(left);
            }
        }
    }

    private void SleepThrough(TimeSpan left)
    {
        if (!OperatingSystem.IsLinux())
        {
            Monitor.Wait(changed, Shortest);
            return;
        }

        var time = new TimeOf { Nanoseconds = (nint)left.TotalNanoseconds };
        Monitor.Exit(changed);
        try
        {
            // A signal ends it early, and then it is slept again.
            _ = Sleep(time, 0);
        }
        finally
        {
            Monitor.Enter(changed);
        }
    }

    [DllImport("libc", EntryPoint = "nanosleep"), DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern int Sleep(in TimeOf time, nint left);

    /// <summary>The <c>timespec</c> of <c>nanosleep(2)</c>.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct TimeOf
    {
        public nint Seconds;
        public nint Nanoseconds;
    }
}
