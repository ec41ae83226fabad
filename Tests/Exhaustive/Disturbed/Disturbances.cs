using System.Diagnostics;
using Kit.Runner.Servers.Machine;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Exhaustive.Disturbed;

/// <summary>
/// What happens on a busy or badly kept machine while a command of the kit runs, at moments that a seed draws: processes stand still, processors and disk
/// are busy, a server is killed, a temporary folder is cleared. Linux alone.
/// </summary>
internal sealed class Disturbances : IAsyncDisposable
{
    private static readonly TimeSpan Slice = TimeSpan.FromMilliseconds(100);

    private readonly Random random;
    private readonly int runner;
    private readonly string temporary;
    private readonly CancellationTokenSource over = new();
    private readonly List<string> done = [];
    private readonly Task disturbing;
    private bool mayEndAServer;

    private Disturbances(int seed, int runner, string temporary)
    {
        random = new Random(seed);
        mayEndAServer = EndsAServer(seed);
        this.runner = runner;
        this.temporary = temporary;
        disturbing = Task.Run(DisturbAsync);
    }

    /// <summary>Disturbs a command until it is disposed of.</summary>
    /// <param name="seed">Of what is drawn.</param>
    /// <param name="runner">The command's process, which itself is left alone.</param>
    /// <param name="temporary">Where it puts its servers.</param>
    public static Disturbances Of(int seed, int runner, string temporary) => new(seed, runner, temporary);

    /// <summary>Whether a server is killed or loses its folder with a seed, once. Nothing can be measured after that.</summary>
    public static bool EndsAServer(int seed) => seed % 5 == 0;

    public override string ToString() => string.Join(", ", done.GroupBy(what => what).Select(same => $"{same.Key} {same.Count()}"));

    public async ValueTask DisposeAsync()
    {
        await over.CancelAsync();
        await disturbing;
        over.Dispose();
    }

    private async Task DisturbAsync()
    {
        while (!over.IsCancellationRequested)
        {
            await PauseAsync(TimeSpan.FromMilliseconds(random.Next(100, 3_000)));
            switch (random.Next(100))
            {
                case < 50:
                    await StopOneAsync(TimeSpan.FromMilliseconds(random.Next(100, 3_000)));
                    break;
                case < 55:
                    // Longer than a drain waits for progress.
                    await StopOneAsync(TimeSpan.FromSeconds(34));
                    break;
                case < 80:
                    FillProcessors(TimeSpan.FromMilliseconds(random.Next(500, 3_000)));
                    break;
                case < 96:
                    FillDisk();
                    break;
                default:
                    await EndAServerAsync();
                    break;
            }
        }
    }

    private Task PauseAsync(TimeSpan time) => Task.Delay(time, over.Token).ContinueWith(_ => { }, TaskScheduler.Default);

    private async Task StopOneAsync(TimeSpan time)
    {
        if (Processes() is not { Count: > 0 } processes)
            return;

        var chosen = processes[random.Next(processes.Count)];
        if (!await SignalAsync("STOP", chosen))
            return;

        done.Add(time > TimeSpan.FromSeconds(30) ? "stopped for 34 s" : "stopped");
        for (var watch = Stopwatch.StartNew(); watch.Elapsed < time && !over.IsCancellationRequested;)
            await PauseAsync(Slice);
        await SignalAsync("CONT", chosen);
    }

    private void FillProcessors(TimeSpan time)
    {
        done.Add("processors filled");
        var threads = Enumerable.Range(0, 2 * Environment.ProcessorCount)
            .Select(_ => new Thread(() =>
            {
                for (var watch = Stopwatch.StartNew(); watch.Elapsed < time && !over.IsCancellationRequested;)
                    Thread.SpinWait(1_000);
            }))
            .ToList();
        threads.ForEach(thread => thread.Start());
        threads.ForEach(thread => thread.Join());
    }

    private void FillDisk()
    {
        done.Add("disk filled");
        var path = Path.Combine(temporary, "ballast");
        using (var file = new FileStream(path, FileMode.Create))
        {
            var block = new byte[1 << 20];
            for (var at = 0; at < 64 && !over.IsCancellationRequested; at++)
            {
                file.Write(block);
                file.Flush(flushToDisk: true);
            }
        }

        File.Delete(path);
    }

    private async Task EndAServerAsync()
    {
        if (!mayEndAServer)
            return;
        if (random.Next(2) == 0)
            await KillServerAsync();
        else
            ClearFolder();
    }

    private async Task KillServerAsync()
    {
        if (Processes().Where(id => ChildProcesses.CommandLineOf(id).Contains(temporary, StringComparison.Ordinal)).ToList() is not { Count: > 0 } servers)
            return;

        done.Add("server killed");
        mayEndAServer = false;
        await SignalAsync("KILL", servers[random.Next(servers.Count)]);
    }

    private void ClearFolder()
    {
        done.Add("folder cleared");
        mayEndAServer = false;
        foreach (var folder in Directory.GetDirectories(temporary))
        {
            try
            {
                Directory.Delete(folder, recursive: true);
            }
            catch (Exception inUse) when (inUse is IOException or UnauthorizedAccessException)
            {
                // A server writes into it. What is gone is gone.
            }
        }
    }

    /// <summary>Those that the command has started, its servers with theirs.</summary>
    private List<int> Processes()
    {
        var all = Process.GetProcesses().Select(process => ProcessStat.Read(process.Id)).OfType<ProcessStat>().Where(stat => !stat.IsZombie).ToList();
        var found = all.Where(stat => stat.Parent == runner || ChildProcesses.CommandLineOf(stat.Id).Contains(temporary, StringComparison.Ordinal))
            .Select(stat => stat.Id).Where(id => id != runner).ToHashSet();
        while (ChildrenOf(found) is { Count: > 0 } more)
            found.UnionWith(more);
        return [.. found.Order()];

        List<int> ChildrenOf(HashSet<int> parents) =>
            [.. all.Where(stat => parents.Contains(stat.Parent) && stat.Id != runner && !parents.Contains(stat.Id)).Select(stat => stat.Id)];
    }

    private static async Task<bool> SignalAsync(string signal, int process) =>
        (await ChildProcesses.SignalAsync(signal, $"{process}")).Succeeded;
}
