using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Tests.Contract;

/// <summary>A cell that runs another mode than its label says is found out before it is measured.</summary>
[Parallelizable]
public sealed class MislabelledCell
{
    [TestCase("dtc-off", "scope-off", "without an ambient transaction")]
    [TestCase("scope-off", "dtc-off", "in an ambient transaction, but should not")]
    [TestCase("scope-off", "transactions-off", "has left the queue before it is handled")]
    [TestCase("full-dtc", "dtc-off", "the receive commits after the handler's transaction")]
    [TestCase("dtc-off", "full-dtc", "the receive does not commit after the handler's transaction")]
    [TestCase("outbox", "shared", "the receive does not commit after the handler's transaction")]
    [TestCase("shared", "outbox", "the receive commits after the handler's transaction")]
    [TestCase("outbox", "dtc-off", "in an ambient transaction, but should not")]
    [TestCase("outbox", "scope-off", "the row is committed before the handler has ended")]
    public async Task The_probe_says_in_what_it_disagrees(string label, string truth, string expected)
    {
        await using var databases = await TestDatabases.CreateAsync();
        var cell = new Cell(new Mislabelled(TransactionMode.Parse(truth)), TransactionMode.Parse(label));

        var result = await CellProbe.RunAsync(
            cell,
            new EndpointSettings("probe", databases.QueueOf(TransactionMode.Parse(truth)), databases.Widgets, cell.Mode, Concurrency: 2),
            CancellationToken.None);

        Assert.That(result.Support.Because, Does.Contain(expected));
    }

    [Test]
    public async Task More_handlers_together_than_the_concurrency_are_found()
    {
        await using var databases = await TestDatabases.CreateAsync();
        var cell = new Cell(new Mislabelled(TransactionMode.DtcOff, concurrency: 3), TransactionMode.DtcOff);

        var result = await CellProbe.RunAsync(
            cell, new EndpointSettings("probe", databases.Queue, databases.Widgets, cell.Mode, Concurrency: 2), CancellationToken.None);

        Assert.That(result.Support.Because, Is.EqualTo("3 handlers ran at the same time, not 2"));
    }

    private sealed class Mislabelled(TransactionMode truth, int? concurrency = null) : IEndpointKind
    {
        private readonly BareOnPostgreSql kind = new();

        public FrameworkFacts Facts => kind.Facts;

        public string Transport => kind.Transport;

        public WidgetServer WidgetServer => kind.WidgetServer;

        public IReadOnlyList<Assembly> Packages => kind.Packages;

        public Support Supports(TransactionMode mode) => kind.Supports(mode);

        public IReadOnlyList<string> CodeOf(TransactionMode mode) => kind.CodeOf(mode);

        public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle) =>
            kind.AddEndpoint(services, settings with { Mode = truth, Concurrency = concurrency ?? settings.Concurrency }, handle);

        public IMessageQueue OpenQueue(string name, string transport) => kind.OpenQueue(name, transport);
    }
}
