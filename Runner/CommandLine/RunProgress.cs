using System.Diagnostics;

namespace Kit.Runner.CommandLine;

/// <summary>How many rounds of a run are done, and how long the others will take at the same pace.</summary>
internal sealed class RunProgress
{
    private readonly Stopwatch measuring = new();
    private int finishedHere;
    private int done;
    private int planned;

    /// <summary>Starts the clock with the first round: the time for seeding is not extrapolated.</summary>
    public void Begin() => measuring.Start();

    public void Finish(int nowDone, int nowPlanned) => (finishedHere, done, planned) = (finishedHere + 1, nowDone, nowPlanned);

    // Rounds from before a run was resumed took no time here.
    public string Left => finishedHere > 0 && done < planned ? $"about {Duration(measuring.Elapsed / finishedHere * (planned - done))} left" : "";

    /// <summary>A line about the round that has just ended, with the progress.</summary>
    public string LineOf(string ended) => $"{done} of {planned}: {ended}{(Left.Length > 0 ? $"; {Left}" : "")}";

    private static string Duration(TimeSpan time) => time.TotalMinutes >= 2 ? $"{time.TotalMinutes:F0} min" : $"{time.TotalSeconds:F0} s";
}
