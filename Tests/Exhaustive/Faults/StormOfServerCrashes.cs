using Kit.Endpoints.Cells;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Testbeds;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Exhaustive.Faults;

/// <summary>
/// The database server crashes at random moments of a drain, while commits that nobody waited for are in its memory. The other modes, and more crashes,
/// are left to <c>faults --storm --server-crashes</c>.
/// </summary>
[Parallelizable]
public sealed class StormOfServerCrashes
{
    private const int Crashes = 3;

    [TestCase("bare.postgresql.shared.ado.none", 0)]
    [TestCase("bare.postgresql.full-dtc.ado.last", 0)]
    [TestCase("bare.postgresql.dtc-off.ado.last", Crashes * 2)]
    [TestCase("bare.postgresql-apart.full-dtc.ado", 0)]
    [TestCase("nservicebus.postgresql-apart.full-dtc.ado", 0)]
    public async Task Every_message_is_of_a_promised_class(string name, int mostTouched)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var cell = Cell.All.Single(one => one.Name == name);
        if (cell.Support.Because is { } missing)
            Assert.Ignore(missing);
        await using var servers = await ServersInUse.StartAsync(Transport.NeededBy([Transport.Of(cell)]), CancellationToken.None);

        var result = await new Storm(
            cell,
            servers,
            new StormPlan(Kills: 0, Cuts: 0, Seed: 1) { ServerCrashes = Crashes },
            TestContext.Progress.WriteLine).RunAsync(CancellationToken.None);

        Assert.That(
            result.Verdict,
            Is.EqualTo(FaultVerdict.Kept),
            () => $"{result.Because} {string.Join('\n', result.Violations.Select(violation => violation.Because))}");
        using (Assert.EnterMultipleScope())
        {
            Assert.That((result.Storm!.ServerCrashes, result.Storm.MostTouched), Is.EqualTo((Crashes, mostTouched)));
            Assert.That(result.Counts.Values.Sum(), Is.EqualTo(result.Messages));
            // More than were being handled: commits were taken back that nobody had waited for.
            if (name.EndsWith(".none", StringComparison.Ordinal))
                Assert.That(result.Storm.Again, Is.GreaterThan(Crashes * 2));
            Assert.That(result.Fired[0], Does.StartWith($"0 kills and 0 cuts of all connections, {Crashes} crashes of the database server, "));
        }
    }

    /// <summary>
    /// What the endpoint warns of does harm: rows that do not wait, with a queue elsewhere, are gone when the message has been acknowledged and its send is
    /// with the broker.
    /// </summary>
    [Test]
    public async Task Rows_without_a_flush_are_lost_where_the_queue_is_on_a_broker()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var cell = Cell.All.Single(one => one.Name == "bare.rabbitmq.scope-off.ado");
        if (TestTransport.MissingServer(cell.Kind.Transport) is { } missing)
            Assert.Ignore(missing);
        await using var servers = await ServersInUse.StartAsync(Transport.NeededBy([Transport.Of(cell)]), CancellationToken.None);

        var result = await new Storm(
            cell,
            servers,
            new StormPlan(Kills: 0, Cuts: 0, Seed: 1)
            {
                ServerCrashes = Crashes,
                Unflushed = Unflushed.Data,
            },
            TestContext.Progress.WriteLine).RunAsync(CancellationToken.None);

        Assert.That(result.Verdict, Is.EqualTo(FaultVerdict.Broken), result.Because);
        Assert.That(result.Violations.Select(violation => violation.Because), Has.Some.Contains("is ghost").Or.Some.Contains("is lost"));
    }
}
