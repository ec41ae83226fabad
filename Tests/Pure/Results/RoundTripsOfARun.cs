using Kit.Runner.Results;

namespace Kit.Tests.Results;

/// <summary>Rounds whose time follows from their distance, so that the slope is known.</summary>
public sealed class RoundTripsOfARun
{
    private const int Messages = 400;
    private const int Concurrency = 2;

    [Test]
    public void Slope_is_the_number_of_round_trips_and_the_rest_does_not_depend_on_the_distance()
    {
        var slope = SlopeOf([.. Rounds(number => 3 + (0.01 * (number - 3)), rest: 1.5)]);

        using (Assert.EnterMultipleScope())
        {
            Assert.That(slope.Trips!.Mean, Is.EqualTo(3).Within(0.001));
            Assert.That(slope.Trips.Low, Is.InRange(2.97, 2.999));
            Assert.That(slope.Trips.High, Is.InRange(3.001, 3.03));
            Assert.That(slope.RestMilliseconds, Is.EqualTo(1.5).Within(0.001));
            Assert.That(slope.Nearest.Cell.On("rtt"), Is.EqualTo("0ms"));
            Assert.That(slope.Cell.ToString(), Is.EqualTo("bare/postgresql/shared/ado"));
        }
    }

    [Test]
    public void Rounds_that_do_not_count_are_not_in_it()
    {
        var rounds = Rounds(_ => 3, rest: 1.5).ToList();
        rounds[0] = rounds[0] with
        {
            Outcome = RoundOutcome.Invalid(["invented"]),
            OffsetsMilliseconds = [.. rounds[0].OffsetsMilliseconds.Select(each => each * 9)],
        };

        Assert.That(SlopeOf(rounds).Trips!.Mean, Is.EqualTo(3).Within(0.001));
    }

    [Test]
    public void A_slope_below_zero_is_no_number_of_round_trips()
    {
        var slope = SlopeOf([.. Rounds(number => number == 1 ? -0.1 : 3, rest: 5)]);

        Assert.That((slope.Trips, slope.RestMilliseconds), Is.EqualTo(((Estimate?)null, (double?)null)));
    }

    [Test]
    public void One_distance_has_no_slope() =>
        Assert.That(RoundTripSlope.Of(RunOf([.. Rounds(_ => 3, rest: 1).Where(round => round.Cell.On("rtt") == "0ms")])), Is.Empty);

    [Test]
    public void Direct_cells_are_not_in_it() => Assert.That(RoundTripSlope.Of(InventedRun.Recorded), Is.Empty);

    private static RoundTripSlope SlopeOf(IReadOnlyList<RoundDocument> rounds) => RoundTripSlope.Of(RunOf(rounds)).Single();

    private static RecordedRun RunOf(IReadOnlyList<RoundDocument> rounds) =>
        new(InventedRun.Document with { Cells = [.. rounds.Select(round => round.Cell).Distinct()] }, rounds);

    /// <summary>Five rounds at three distances, each a little farther away than it is called.</summary>
    private static IEnumerable<RoundDocument> Rounds(Func<int, double> tripsOf, double rest) =>
        from number in Enumerable.Range(1, 5)
        from added in new[] { 0, 5, 10 }
        let distance = added + 0.2
        let worker = rest + (tripsOf(number) * distance)
        select InventedRun.Round("shared", number, seconds: worker / 1_000 * Messages / Concurrency) with
        {
            Cell = new CellName(InventedRun.Cell("shared").Values.Append(("rtt", $"{added}ms"))),
            Network = new NetworkUse(new MeasuredRoundTrip(distance, distance + 1, Pings: 100), Reading.Of(5), Reading.Of(3), SqlConnections: 2),
        };
}
