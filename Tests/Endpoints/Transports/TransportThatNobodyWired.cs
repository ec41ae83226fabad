using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.CommandLine;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Stage.Transports;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Tests.Transports;

/// <summary>
/// A transport that a cell names and nobody described: every place that chooses by transport refuses it, and none takes another for it.
/// </summary>
public sealed class TransportThatNobodyWired
{
    private static readonly Cell Invented = new(new OnInvented(), TransactionMode.DtcOff);

    private static readonly RunSettings Sizes =
        new(Messages: 1, Rounds: 1, Concurrency: 1, SeedRows: 0, WarmUp: 0, OrderSeed: 0, Quick: false);

    private static IEnumerable<TestCaseData> Places =>
    [
        Place("its descriptor", cell => Transport.Of(cell)),
        Place("the servers of a run", cell => Transport.NeededBy([Transport.Of(cell)])),
        Place("the plan of a run", cell => new RunPlan([cell], Sizes, TransportArguments.None, RepeatNoisy: false, "", "").SupportOf(cell)),
        Place("the plan of experiments", cell => new FaultPlan([cell], Fault.All, Storm: null, Speeds: null, "", "").SupportOf(cell)),
        Place("an injection", cell => Injection.Of(Fault.RestartBroker, cell, Guid.Empty)),
        Place("the list", cell => ListCommand.Write([cell], TransportArguments.None, TextWriter.Null)),
    ];

    [TestCaseSource(nameof(Places))]
    public void Is_refused_by_whatever_chooses(Action<Cell> choose)
    {
        Assert.That(() => choose(Invented), Throws.TypeOf<UnknownTransportException>().With.Message.Contains("'invented'"));
        Assert.That(() => choose(Cell.All.First(cell => cell.Support.IsSupported)), Throws.Nothing, "a transport that is known");
    }

    [Test]
    public void Is_refused_by_the_tests_themselves() =>
        Assert.That(() => TestTransport.MissingServer("invented"), Throws.TypeOf<UnknownTransportException>().With.Message.Contains("'invented'"));

    private static TestCaseData Place(string name, Action<Cell> choose) => new TestCaseData(choose).SetArgDisplayNames(name);

    private sealed class OnInvented : IEndpointKind
    {
        public FrameworkFacts Facts => FactsOfBare.Facts;

        public string Transport => "invented";

        public WidgetServer WidgetServer => WidgetServer.PostgreSql;

        public IReadOnlyList<Assembly> Packages => [];

        public Support Supports(TransactionMode mode) => Support.Yes;

        public IReadOnlyList<string> CodeOf(TransactionMode mode) => throw new NotSupportedException();

        public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle) =>
            throw new NotSupportedException();

        public IMessageQueue OpenQueue(string name, string transport) => throw new NotSupportedException();
    }
}
