namespace Kit.Runner.Results;

/// <summary>The clock of a server of others, compared with this machine's by round trips, before and after a measurement.</summary>
/// <param name="AheadMilliseconds">Its lead over this machine's, which is taken off the moments of commits; negative: it is behind.</param>
/// <param name="ErrorMilliseconds">The true lead is at most so far away: half of the shortest round trip, and what it moved in the meantime.</param>
public sealed record ServerClock(double AheadMilliseconds, double ErrorMilliseconds)
{
    public override string ToString() =>
        $"{Figures.Measured(Math.Abs(AheadMilliseconds))} ± {Figures.Measured(ErrorMilliseconds)} ms {(AheadMilliseconds < 0 ? "behind" : "ahead")}";
}
