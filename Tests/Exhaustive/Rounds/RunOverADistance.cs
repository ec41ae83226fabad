using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Kit.Tests.Rounds;

namespace Kit.Tests.Exhaustive.Rounds;

/// <summary>Two distances, in modes whose round trips are known from their statements.</summary>
[Parallelizable]
public sealed class RunOverADistance : MeasuredRun
{
    private const double Far = 10;

    protected override IEnumerable<string> Cells =>
        ["--framework", "bare", "--transport", "postgresql", "--mode", "shared,transactions-off", "--rtt", "0ms,10ms"];

    protected override int CellCount => 4;

    protected override int Messages => 200;

    // transactions-off: the receive, the insert. shared also commits. The rest is what the endpoint asks at its start, and its last, empty receives.
    // How many of them a message waits for is the slope, which one round on a busy machine does not show.
    [TestCase("transactions-off", 2)]
    [TestCase("shared", 3)]
    public void Round_trips_are_those_of_the_mode(string mode, int expected)
    {
        foreach (var round in Run.Rounds.Where(round => round.Cell.Mode == mode))
        {
            using (Assert.EnterMultipleScope())
            {
                Assert.That(round.Network!.SqlRoundTrips.Value, Is.InRange(expected, expected + 0.7));
                Assert.That(round.Network.SqlStatements.Value, Is.InRange(2, 10));
                Assert.That(round.Network.SqlConnections, Is.InRange(2, 10));
            }
        }
    }

    [Test]
    public void The_distance_is_measured_in_each_round()
    {
        foreach (var round in Run.Rounds)
        {
            var trip = round.Network!.Trip;
            Assert.That(trip.MeanMilliseconds, round.Cell.On(Axis.RoundTrip.Name) == "0ms" ? Is.LessThan(Far) : Is.GreaterThanOrEqualTo(Far));
        }
    }

    [Test]
    public async Task The_table_says_how_it_was_measured()
    {
        var tables = await File.ReadAllTextAsync(PathOf("run", "tables.md"));

        Assert.That(tables, Does.Contain("## Round trips").And.Contain("a ping through it measures it during each drain"));
        Assert.That(tables, Does.Contain("| bare/postgresql/shared/ado | "));
    }

    [Test]
    public void Other_transports_are_refused_with_the_reason()
    {
        var rule = Axis.RoundTrip.Rule;
        foreach (var cell in Cell.All.Where(cell => cell.RoundTrip != RoundTripTime.Direct))
        {
            Assert.That(
                rule(cell).Because,
                cell.Kind.Transport is TransportName.PostgreSql or TransportName.RabbitMq ? Is.Null : Does.Contain("forwards to PostgreSQL and RabbitMQ"));
        }
    }

    [Test]
    public async Task A_list_of_hosts_cannot_be_forwarded_to()
    {
        var address = new Npgsql.NpgsqlConnectionStringBuilder(MeasuredOn.ConnectionString);
        address.Host = $"{address.Host},{address.Host}";

        var result = await RunnerProcess.RunAsync(
            "run", "--framework", "bare", "--transport", "postgresql", "--mode", "transactions-off", "--rtt", "2ms", "--messages", "10",
            "--warmup", "0", "--seed-rows", "0", "--rounds", "1", "--postgresql", address.ConnectionString, "--out", PathOf("hosts"));

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(result.Output, Does.Contain("forwards to one host and port"));
    }
}
