using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Runner.Results.Points;
using Kit.Runner.Servers;
using Kit.Runner.Wire;
using Kit.Tests.TwoPhase;

namespace Kit.Tests.Participants;

/// <summary>
/// full-dtc with a participant: the handlers' process killed at random moments, between the two prepares, before the decision, after it, and between the two
/// second phases, and each server stopped with <c>-m immediate</c> in turn. Kills are 8, one of each kind, unless the run says otherwise:
/// <c>dotnet test Tests/Endpoints --filter ParticipantsAreKilled -- "TestRunParameters.Parameter(name=\"kills\", value=\"200\")"</c>.
/// </summary>
[Exhaustive, Parallelizable]
public sealed class ParticipantsAreKilled : OnThreeServers
{
    private const string Cell = "bare.postgresql.full-dtc.ado";

    // Until the one that is held is killed the other worker goes on: so many are there when a process starts.
    private const int MessagesPerKill = 300;

    private readonly Random random = new(20261130);

    private enum Kill
    {
        Anywhere,
        BetweenPrepares,
        BeforeDecision,
        AfterDecision,
        BetweenSecondPhases,
        QueueServer,
        DataServer,
        ParticipantsServer,
    }

    [Test]
    public async Task Each_message_has_exactly_one_row_in_each_database_and_one_send_to_the_participants_queue_and_nothing_stays_prepared()
    {
        var kills = TestContext.Parameters.Get("kills", 8);
        await using var queue = new Kit.Endpoints.Bare.PostgreSql.PostgreSqlQueue(Bench.QueueConnection, Cell);
        await queue.CreateAsync(CancellationToken.None);
        await using var invoices = await CreateInvoicesAsync();
        var messages = new List<Guid>();
        var (killed, recovered) = (new Dictionary<Kill, int>(), 0);
        for (var round = 0; round < kills; round++)
        {
            var missing = MessagesPerKill - (int)await queue.CountAsync(CancellationToken.None);
            var more = Enumerable.Range(0, Math.Max(missing, 0)).Select(_ => Guid.CreateVersion7()).ToList();
            await queue.EnqueueAsync(more.Select(id => OutgoingMessage.Create(Cell, new BuildWidget(id), id)), CancellationToken.None);
            messages.AddRange(more);
            var kill = (Kill)(round % Enum.GetValues<Kill>().Length);
            await KillOnceAsync(kill);
            killed[kill] = killed.GetValueOrDefault(kill) + 1;
            recovered += await Bench.Data.CountPreparedAsync() + await Billing.CountPreparedAsync();
        }

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.GreaterThan(0), "the last kill must come before the last message");
        await using (var last = await KilledEndpoint.StartAsync(Cell, Bench.QueueConnection, Bench.DataConnection, BillingConnection))
        {
            await Eventually.HoldsAsync(
                async () => await queue.CountAsync(CancellationToken.None) == 0
                    && await Bench.Data.CountPreparedAsync() + await Billing.CountPreparedAsync() == 0,
                "the drain ends, and nothing is prepared");
        }

        var rows = await Bench.Data.ReadRowsByMessageAsync();
        var ofBilling = await Billing.ReadRowsByMessageAsync();
        await TestContext.Out.WriteLineAsync(
            $"killed {string.Join(", ", killed.Select(one => $"{one.Value} × {one.Key}"))}, {recovered} branches left by them; {messages.Count} messages, " +
            $"{messages.Count(message => !rows.ContainsKey(message))} and {messages.Count(message => !ofBilling.ContainsKey(message))} lost, " +
            $"{rows.Count(row => row.Value > 1)} and {ofBilling.Count(row => row.Value > 1)} doubled");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(rows, Is.EquivalentTo(messages.ToDictionary(message => message, _ => 1)));
            Assert.That(ofBilling, Is.EquivalentTo(rows));
            Assert.That(await invoices.ReadMessagesAsync(CancellationToken.None), Is.EquivalentTo(messages), "sends to the participant's queue");
            Assert.That(recovered, Is.GreaterThan(0), "branches that recovery had to end");
            Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        }
    }

    private async Task KillOnceAsync(Kill kill)
    {
        await using var data = new GatedPostgreSql(Bench.DataConnection);
        await using var billing = new GatedPostgreSql(BillingConnection);
        await using var endpoint = await KilledEndpoint.StartAsync(Cell, Bench.QueueConnection, data.Through, billing.Through);
        switch (kill)
        {
            case Kill.Anywhere:
                await Task.Delay(random.Next(30));
                break;
            case Kill.BetweenPrepares:
                await HoldAsync(billing, MarkedRequest.Prepare, PointWay.NeverSent, Bench.Data);
                break;
            case Kill.BeforeDecision:
                await HoldAsync(billing, MarkedRequest.Prepare, PointWay.Killed, Billing);
                break;
            case Kill.AfterDecision:
                data.Arm(new MarkedRequest { Text = MarkedRequest.CommitPrepared }, PointWay.NeverSent);
                await HoldAsync(billing, MarkedRequest.CommitPrepared, PointWay.NeverSent, Billing);
                break;
            case Kill.BetweenSecondPhases:
                await HoldAsync(billing, MarkedRequest.CommitPrepared, PointWay.NeverSent, Billing);
                break;
            case Kill.QueueServer:
                await RestartAsync(QueueServer);
                break;
            case Kill.DataServer:
                await RestartAsync(DataServer);
                break;
            case Kill.ParticipantsServer:
                await RestartAsync(BillingServer);
                break;
            default:
                throw new InvalidOperationException($"No such kill: {kill}.");
        }
    }

    /// <summary>Returns when the connections stand still there, and something is prepared.</summary>
    private static async Task HoldAsync(GatedPostgreSql proxy, string request, PointWay way, TestDatabases prepared)
    {
        proxy.Arm(new MarkedRequest { Text = request }, way);
        await proxy.FiredAsync();
        await Eventually.HoldsAsync(async () => await prepared.CountPreparedAsync() > 0, "something is prepared");
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
