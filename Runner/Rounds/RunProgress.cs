using System.Diagnostics;

namespace Kit.Runner.Rounds;

/// <summary>The finished rounds of a run, and the time that the others will take at the same pace.</summary>
internal sealed class RunProgress
{
    private readonly Stopwatch measuring = new();
    private int finishedHere;

    public int Done { get; private set; }

    public int Planned { get; private set; }

    /// <summary>True if the run may end after fewer rounds than planned.</summary>
    public bool IsAtMost { get; private set; }

    // Rounds from before a run was resumed took no time here.
    public string Left => finishedHere > 0 && Done < Planned
        ? $"{(IsAtMost ? "at most " : "")}about {Duration(measuring.Elapsed / finishedHere * (Planned - Done))} left"
        : "";

    /// <param name="isAtMost">True if the run may end after fewer.</param>
    public void Plan(int before, int planned, bool isAtMost) => (Done, Planned, IsAtMost) = (before, planned, isAtMost);

    /// <summary>Begins a round. The clock starts with the first: the time for seeding and for trials is not extrapolated.</summary>
    /// <param name="number">From 1; 0 for a trial.</param>
    public void Begin(int number)
    {
        if (number > 0)
            measuring.Start();
    }

    public void Finish(int nowDone, int nowPlanned)
    {
        finishedHere++;
        Done = nowDone;
        // Noisy rounds that are repeated are added when all others are done.
        IsAtMost &= nowPlanned == Planned;
        Planned = nowPlanned;
    }

    /// <summary>A line about the round that has just ended, with the progress.</summary>
    public string LineOf(string ended) => $"{Done} of {Planned}: {ended}{(Left.Length > 0 ? $"; {Left}" : "")}";

    private static string Duration(TimeSpan time) => time.TotalMinutes >= 2 ? $"{time.TotalMinutes:F0} min" : $"{time.TotalSeconds:F0} s";
}
