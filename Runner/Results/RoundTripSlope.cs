using Kit.Modes;
using MathNet.Numerics;

namespace Kit.Runner.Results;

/// <summary>The growth of the time for which a worker has one message, with the distance of the servers.</summary>
/// <remarks>
/// In each round, a line is fitted by least squares through the cell's distances: the measured round trip in ms, and the time for which a worker has a
/// message, in ms. Its slope is the number of round trips that a message waits for; its intercept is the time that does not depend on the distance.
/// </remarks>
internal sealed class RoundTripSlope
{
    private RoundTripSlope(CellName cell, IReadOnlyList<CellResult> distances)
    {
        Cell = cell;
        Nearest = distances.MinBy(distance => distance.MeanOf(round => round.Network?.Trip.MeanMilliseconds) ?? double.MaxValue)!;
        var lines = distances.SelectMany(distance => distance.Counting).GroupBy(round => round.Round)
            .Select(round => LineThrough([.. round.Select(PointOf).OfType<(double, double)>()]))
            .OfType<(double Intercept, double Slope)>()
            .ToList();
        // A slope below zero is no number of round trips: the rounds differ by more than the distance.
        Trips = lines.Exists(line => line.Slope <= 0) ? null : Estimate.Of([.. lines.Select(line => line.Slope)]);
        RestMilliseconds = Trips is null ? null : lines.Average(line => line.Intercept);
    }

    /// <summary>The cell without its distance.</summary>
    public CellName Cell { get; }

    /// <summary>The round trips that a message waits for; <see langword="null"/> if no round has two distances, or the slope is not above zero.</summary>
    public Estimate? Trips { get; }

    /// <summary>The time for which a worker has a message without the network; <see langword="null"/> as <see cref="Trips"/>.</summary>
    public double? RestMilliseconds { get; }

    /// <summary>The nearest distance, whose counts are shown: a longer drain has more polls of an idle connection among its statements.</summary>
    public CellResult Nearest { get; }

    /// <summary>The slope of each cell that was measured at several distances.</summary>
    public static IReadOnlyList<RoundTripSlope> Of(RecordedRun run) =>
    [
        .. run.Cells.Where(cell => cell.Cell.On(AxisName.RoundTrip) is not null)
            .GroupBy(cell => cell.Cell.Without(AxisName.RoundTrip))
            .Where(distances => distances.Skip(1).Any())
            .Select(distances => new RoundTripSlope(distances.Key, [.. distances])),
    ];

    private static (double Distance, double Time)? PointOf(RoundDocument round) =>
        round is { Network.Trip.MeanMilliseconds: var distance, Throughput.AveragePerSecond: > 0 and var rate }
            ? (distance, round.Concurrency / rate * 1_000)
            : null;

    private static (double Intercept, double Slope)? LineThrough(IReadOnlyList<(double Distance, double Time)> points) => points.Count < 2
        ? null
        : Fit.Line([.. points.Select(point => point.Distance)], [.. points.Select(point => point.Time)]);
}
