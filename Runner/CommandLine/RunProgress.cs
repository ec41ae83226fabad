using System.Diagnostics;

namespace Kit.Runner.CommandLine;

/// <summary>How far the rounds of a run are, and how long the others will take if they are like those that ended.</summary>
internal sealed class RunProgress
{
    private readonly Stopwatch measuring = new();
    private int done;
    private int planned;

    /// <summary>The first round begins; seeding is not part of what is extrapolated.</summary>
    public void Begin() => measuring.Start();

    public void Finish(int nowDone, int nowPlanned) => (done, planned) = (nowDone, nowPlanned);

    public string Left => done > 0 && done < planned ? $"about {Duration(measuring.Elapsed / done * (planned - done))} left" : "";

    /// <summary>What has just ended, and how far that is.</summary>
    public string LineOf(string ended) => $"{done} of {planned}: {ended}{(Left.Length > 0 ? $"; {Left}" : "")}";

    private static string Duration(TimeSpan time) => time.TotalMinutes >= 2 ? $"{time.TotalMinutes:F0} min" : $"{time.TotalSeconds:F0} s";
}
