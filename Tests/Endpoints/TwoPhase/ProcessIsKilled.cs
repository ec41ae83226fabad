using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results.Points;
using Kit.Runner.Wire;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.TwoPhase;

/// <summary>
/// full-dtc, its process killed again and again: at random moments, and exactly between the phases. Kills are 3, or one, unless
/// the run says otherwise: <c>dotnet test Tests/Endpoints --filter ProcessIsKilled -- "TestRunParameters.Parameter(name=\"kills\", value=\"200\")"</c>.
/// </summary>
[Parallelizable]
public sealed class ProcessIsKilled
{
    // Until the one that is held is killed the other worker goes on: so many are there when a process starts, and few of them are drained in the end.
    private const int MessagesPerKill = 3_000;

    private readonly Random random = new(20261121);

    [TestCase("full-dtc", 3)]
    [TestCase("full-dtc-waiting", 1)]
    public async Task Each_message_has_exactly_one_row_and_nothing_stays_prepared(string mode, int kills)
    {
        kills = TestContext.Parameters.Get("kills", kills);
        var cell = Cell.All.Single(cell => cell.Name == $"bare.postgresql.{mode}.ado");
        await using var databases = await TestDatabases.CreateAsync();
        await using var queue = cell.Kind.OpenQueue(cell.Name, databases.Queue);
        await queue.CreateAsync(CancellationToken.None);
        var messages = new List<BuildWidget>();

        var killed = new Dictionary<CrashPoint, int>();
        for (var kill = 0; kill < kills; kill++)
        {
            // The first one leaves a branch that recovery must commit.
            var point = (CrashPoint)(2 - (kill % 3));
            var missing = MessagesPerKill - (int)await queue.CountAsync(CancellationToken.None);
            var more = Enumerable.Range(0, Math.Max(missing, 0)).Select(_ => new BuildWidget(Guid.CreateVersion7())).ToList();
            await queue.PreloadAsync(more, CancellationToken.None);
            messages.AddRange(more);
            await KillOnceAsync(cell, databases, point);
            killed[point] = killed.GetValueOrDefault(point) + 1;
        }

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.GreaterThan(0), "the last kill must come before the last message");
        var deleted = await TwoPhaseBench.DeleteBehindFirstAsync(databases.Queue, cell.Name);
        messages.RemoveAll(message => deleted.Contains(message.MessageId));
        await DrainAsync(cell, databases, queue);

        var rows = await databases.ReadRowsByMessageAsync();
        await TestContext.Out.WriteLineAsync(
            $"{mode}: killed {string.Join(", ", killed.Select(point => $"{point.Value} × {point.Key}"))}; {messages.Count} messages, {rows.Count} with rows, " +
            $"{messages.Count(message => !rows.ContainsKey(message.MessageId))} lost, {rows.Count(row => row.Value > 1)} doubled");
        Assert.Multiple(() =>
        {
            Assert.That(messages.Where(message => !rows.ContainsKey(message.MessageId)), Is.Empty, "lost");
            Assert.That(rows.Where(row => row.Value > 1), Is.Empty, "doubled");
            Assert.That(rows, Has.Count.EqualTo(messages.Count));
        });
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await databases.CountPreparedAsync(), Is.Zero, "prepared transactions left");
    }

    private async Task KillOnceAsync(Cell cell, TestDatabases databases, CrashPoint point)
    {
        await using var proxy = new GatedPostgreSql(databases.Widgets);
        await using var endpoint = await KilledEndpoint.StartAsync(cell.Name, databases.Queue, proxy.Through);
        if (point is CrashPoint.Anywhere)
            await Task.Delay(random.Next(30));
        else
            await HoldAsync(proxy, databases, point);
    }

    /// <summary>Returns when the connections to the widgets stand still at the point.</summary>
    private static async Task HoldAsync(GatedPostgreSql proxy, TestDatabases databases, CrashPoint point)
    {
        var (command, way, decision) = point is CrashPoint.BeforeDecision
            ? (MarkedRequest.Prepare, PointWay.Killed, "in progress")
            : (MarkedRequest.CommitPrepared, PointWay.NeverSent, "committed");
        proxy.Arm(new MarkedRequest { Text = command }, way);
        await proxy.FiredAsync();
        await PreparedAsync(databases, decision);
    }

    /// <summary>
    /// Killed is what is prepared, with the decision where it should be, and stays so: the branches of the other worker come and go within
    /// milliseconds.
    /// </summary>
    private static async Task PreparedAsync(TestDatabases databases, string decision)
    {
        var before = await databases.ReadDecisionsAsync();
        await Eventually.HoldsAsync(
            async () =>
            {
                await Task.Delay(50);
                var now = await databases.ReadDecisionsAsync();
                var isThere = now.Intersect(before).Any(branch => branch.EndsWith(decision, StringComparison.Ordinal));
                before = now;
                return isThere;
            },
            $"held, and something stays prepared whose decision is '{decision}'");
    }

    private static async Task DrainAsync(Cell cell, TestDatabases databases, IMessageQueue queue)
    {
        var builder = new WidgetBuilder(cell.Access.CreateInsert());
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(
            host.Services, new EndpointSettings(cell.Name, databases.Queue, databases.Widgets, cell.Mode, Concurrency: 2), builder.BuildAsync);
        using var endpoint = host.Build();
        await endpoint.StartAsync();
        await Eventually.HoldsAsync(
            async () => await queue.CountAsync(CancellationToken.None) == 0 && await databases.CountPreparedAsync() == 0,
            "the drain ends, and nothing is prepared");
        await endpoint.StopAsync();
    }
}
