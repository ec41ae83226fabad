namespace Kit.Runner.Results;

/// <summary>One row per cell that was measured at several distances: the round trips that a message waits for, and the traffic.</summary>
internal static class RoundTripTable
{
    private const string Legend =
        "Round trips is how much longer a worker has a message for each millisecond that the servers are farther away: the slope of the line through the " +
        "measured distances of a round, as the mean over the rounds with its 95 % interval (Student's t, on logarithms). These are the round trips that a " +
        "message waits for. The rest is what a message takes without the network. The kit's proxy adds the distance, and a ping through it measures it " +
        "during each drain. It limits no bandwidth and loses nothing, and all servers are equally far away. SQL statements and SQL round trips are per " +
        "message, over all connections to PostgreSQL at the nearest distance, and include those for which no message waits, such as a second phase that " +
        "runs while the next message is handled. SQL connections is the most that were open at the same time.";

    private static readonly IReadOnlyList<Column<RoundTripSlope>> Columns =
    [
        new("Mode", slope => $"{slope.Cell}", IsFigure: false),
        new("Round trips", slope => Figures.Measured(slope.Trips?.Mean)),
        new(SummaryTable.Interval, slope => SummaryTable.IntervalOf(slope.Trips)),
        new("Rest ms", slope => Figures.Measured(slope.RestMilliseconds)),
        new("SQL statements", slope => Figures.Measured(slope.Nearest.MeanOf(round => round.Network?.SqlStatements.Value))),
        new("SQL round trips", slope => Figures.Measured(slope.Nearest.MeanOf(round => round.Network?.SqlRoundTrips.Value))),
        new("SQL connections", slope => Figures.Measured(slope.Nearest.Counting.Max(round => round.Network?.SqlConnections))),
    ];

    public static Table Of(IReadOnlyList<RoundTripSlope> slopes) => Table.Of(Columns, slopes) with { Title = "Round trips", Legend = Legend };
}
