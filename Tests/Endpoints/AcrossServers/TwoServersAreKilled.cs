using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results.Points;
using Kit.Runner.Servers;
using Kit.Runner.Wire;
using Kit.Tests.TwoPhase;

namespace Kit.Tests.AcrossServers;

/// <summary>
/// full-dtc on two servers: the handlers' process killed at random moments and exactly between the phases, and each server stopped with <c>-m immediate</c>
/// in turn. Kills are 5, one of each kind, unless the run says otherwise:
/// <c>dotnet test Tests/Endpoints --filter TwoServersAreKilled -- "TestRunParameters.Parameter(name=\"kills\", value=\"1000\")"</c>.
/// </summary>
[Exhaustive, Parallelizable]
public sealed class TwoServersAreKilled
{
    // Until the one that is held is killed the other worker goes on: so many are there when a process starts.
    private const int MessagesPerKill = 3_000;

    private readonly Random random = new(20261129);

    private enum Kill
    {
        ProcessAnywhere,
        QueueServer,
        ProcessBeforeDecision,
        DataServer,
        ProcessAfterDecision,
    }

    [TestCase("bare.postgresql-apart.full-dtc.ado")]
    [TestCase("nservicebus.postgresql-apart.full-dtc.ado")]
    public async Task Each_message_has_exactly_one_row_and_nothing_stays_prepared(string name)
    {
        var cell = Cell.All.Single(cell => cell.Name == name);
        if (cell.Support.Because is { } because)
            Assert.Ignore(because);
        var kills = TestContext.Parameters.Get("kills", 5);
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var queueServer = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        await using var dataServer = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        await using var bench = await TwoServersBench.CreateAsync(queueServer, dataServer);
        await using var queue = cell.Kind.OpenQueue(cell.Name, bench.QueueConnection);
        await queue.CreateAsync(CancellationToken.None);
        var messages = new List<BuildWidget>();
        var (killed, recovered) = (new Dictionary<Kill, int>(), 0);
        for (var round = 0; round < kills; round++)
        {
            var missing = MessagesPerKill - (int)await queue.CountAsync(CancellationToken.None);
            var more = Enumerable.Range(0, Math.Max(missing, 0)).Select(_ => new BuildWidget(Guid.CreateVersion7())).ToList();
            await queue.PreloadAsync(more, CancellationToken.None);
            messages.AddRange(more);
            var kill = (Kill)(round % 5);
            await KillOnceAsync(bench, cell, kill, kill is Kill.QueueServer ? queueServer : dataServer);
            killed[kill] = killed.GetValueOrDefault(kill) + 1;
            recovered += await bench.Data.CountPreparedAsync();
        }

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.GreaterThan(0), "the last kill must come before the last message");
        await using (var last = await KilledEndpoint.StartAsync(cell.Name, bench.QueueConnection, bench.DataConnection))
        {
            await Eventually.HoldsAsync(
                async () => await queue.CountAsync(CancellationToken.None) == 0 && await bench.Data.CountPreparedAsync() == 0,
                "the drain ends, and nothing is prepared");
        }

        var rows = await bench.Data.ReadRowsByMessageAsync();
        var errors = await queue.ReadErrorsAsync(CancellationToken.None);
        await TestContext.Out.WriteLineAsync(
            $"killed {string.Join(", ", killed.Select(one => $"{one.Value} × {one.Key}"))}, {recovered} branches left by them; " +
            $"{messages.Count} messages and {errors.Count} that were given up, " +
            $"{messages.Count(message => !rows.ContainsKey(message.MessageId))} lost, {rows.Count(row => row.Value > 1)} doubled");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(messages.Where(message => !rows.ContainsKey(message.MessageId)), Is.Empty, "lost");
            Assert.That(rows.Where(row => row.Value > 1), Is.Empty, "doubled");
            Assert.That(rows, Has.Count.EqualTo(messages.Count));
            Assert.That(recovered, Is.GreaterThan(0), "branches that recovery had to end");
            Assert.That(errors, Is.Empty);
            Assert.That(await bench.Data.CountPreparedAsync(), Is.Zero);
        }
    }

    private async Task KillOnceAsync(TwoServersBench bench, Cell cell, Kill kill, PrivatePostgreSql server)
    {
        await using var proxy = new GatedPostgreSql(bench.DataConnection);
        await using var endpoint = await KilledEndpoint.StartAsync(cell.Name, bench.QueueConnection, proxy.Through);
        switch (kill)
        {
            case Kill.ProcessAnywhere:
                await Task.Delay(random.Next(30));
                break;
            case Kill.ProcessBeforeDecision:
                proxy.Arm(new MarkedRequest { Text = MarkedRequest.Prepare }, PointWay.Killed);
                await proxy.FiredAsync();
                await Eventually.HoldsAsync(async () => await bench.Data.CountPreparedAsync() > 0, "something is prepared");
                break;
            case Kill.ProcessAfterDecision:
                proxy.Arm(new MarkedRequest { Text = MarkedRequest.CommitPrepared }, PointWay.NeverSent);
                await proxy.FiredAsync();
                break;
            case Kill.QueueServer or Kill.DataServer:
                await RestartAsync(server);
                break;
            default:
                throw new InvalidOperationException($"No such kill: {kill}.");
        }
    }

    private async Task RestartAsync(PrivatePostgreSql server)
    {
        await Task.Delay(random.Next(100));
        await server.StopImmediatelyAsync(CancellationToken.None);
        await server.RestartAsync(CancellationToken.None);
        // The endpoint goes on with what its sessions left behind.
        await Task.Delay(random.Next(300));
    }
}
