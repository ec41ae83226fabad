using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Results.Faults;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Faults.Experiments;

/// <summary>A copy of a message, with its id, is sent to an endpoint that stores messages in an inbox, while its handler has the first one.</summary>
[Parallelizable]
public sealed class CopyOfAMessage
{
    private static IReadOnlyList<Cell> Cells { get; } =
    [
        .. from cell in Cell.All
           where cell is { Support.IsSupported: true, Access.Name: "ado" } && cell.IsPlain && TestTransport.MissingServer(cell.Kind.Transport) is null
               && cell is { Kind.Framework: "wolverine" } && (cell.Kind.Transport == TransportName.PostgreSql || cell.Mode == TransactionMode.Outbox)
           select cell,
    ];

    [Exhaustive, TestCaseSource(nameof(Cells))]
    public async Task Is_dropped_before_a_handler_has_it(Cell cell)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var servers = await ServersInUse.StartAsync(Transport.NeededBy([Transport.Of(cell)]), CancellationToken.None);
        var result = await new SingleFault(cell, Fault.SentTwice, HandlerShape.OfExperiments, servers, TimeSpan.Zero).RunAsync(CancellationToken.None);

        foreach (var line in result.Fired.Concat(result.Evidence))
            TestContext.Out.WriteLine(line);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(result.Because, Is.Null);
            Assert.That(result.Fired, Has.Some.Contains("the endpoint dropped its copy"));
            Assert.That(result.Observed, Is.EqualTo([new Observation(DeliveryClass.Once, 1)]));
        }
    }
}
