using System.Data.Common;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Tests.Faults.Experiments;

/// <summary>The handler of a scenario in an experiment, without an endpoint, and what the account makes of what it has sent.</summary>
[Parallelizable]
public sealed class HandlerOfAScenario
{
    private const string Sink = "sink";

    private static readonly Scenario Mistaken = Scenario.Pass with
    {
        Handle = (_, sink) => (message, context, cancellationToken) =>
            context.SendAsync(sink, new WidgetBuilt(message.MessageId) { Document = "<order />" }, cancellationToken),
    };

    private TemporaryFolder folder = null!;

    [SetUp]
    public void CreateFolder() => folder = new TemporaryFolder();

    [TearDown]
    public void RemoveFolder() => folder.Dispose();

    [Test]
    public async Task Records_its_attempts()
    {
        var (message, _) = await HandleAsync(Scenario.Pass);

        var lines = AttemptJournal.Read(Journal);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(
                lines.Select(line => line.Point),
                Is.EqualTo([AttemptPoint.Started, AttemptPoint.BeforeInsert, AttemptPoint.AfterSend, AttemptPoint.Returned]));
            Assert.That(lines, Has.Count.EqualTo(ScenarioHandler.LinesPerAttempt));
            Assert.That(lines.Select(line => (line.MessageId, line.AttemptId)).Distinct().Single().MessageId, Is.EqualTo(message.MessageId));
        }
    }

    [Test]
    public async Task Keeps_the_promise_if_it_sends_what_it_must()
    {
        var account = await AccountOfAsync(Scenario.Pass);

        Assert.That(account.Verdicts.Single().Class, Is.EqualTo(DeliveryClass.Once));
    }

    [Test]
    public async Task Breaks_the_promise_of_every_mode_with_a_wrong_document()
    {
        var account = await AccountOfAsync(Mistaken);

        using (Assert.EnterMultipleScope())
        {
            foreach (var (mode, fault, isBroker) in
                from mode in TransactionMode.All
                from fault in ScenarioUnderFaults.Faults
                from isBroker in new[] { false, true }
                select (mode, fault, isBroker))
            {
                var violation = account.ViolationsOf(FaultPromise.Of(fault, mode, isBroker)).Single();
                Assert.That(violation.Because, Does.Contain("is unexpected"), $"{mode} {fault}");
                Assert.That(violation.Evidence, Has.Some.Contains(": its document (9 characters) is not the expected one ("));
            }
        }
    }

    [Test]
    public void Does_nothing_that_other_faults_need() => Assert.That(
        () => new ScenarioHandler(SpecOf(new HandlerThrows(AttemptPoint.AfterFirstInsert, "throws", isOnce: false).Script), Scenario.Pass),
        Throws.TypeOf<NotSupportedException>().With.Message.Contains("'pass' runs unchanged"));

    [TestCase("bare.postgresql.shared.ado.pass", null)]
    [TestCase("bare.postgresql.shared.ado.upsert", "its row does not name the attempt that inserted it")]
    [TestCase("bare.postgresql.shared.ado.update-one-row", "it sends nothing, and an experiment recognizes the end of a handling by its message")]
    public void Runs_if_it_can_be_accounted_for(string cell, string? because) =>
        Assert.That(FaultPlan.SupportAnywhere(Cell.Find(cell)!).Because, Is.EqualTo(because));

    private string Journal => folder.Below("attempts");

    private ExperimentSpec SpecOf(HandlerScript script) => new(Journal, Sink, "transport", "widgets", Guid.Empty, script);

    private async Task<(BuildWidget Message, Sent Sent)> HandleAsync(Scenario scenario)
    {
        var id = Guid.CreateVersion7();
        var message = new BuildWidget(id) { Document = scenario.Document!(id, null) };
        var context = new Context();
        await using var handler = new ScenarioHandler(SpecOf(HandlerScript.None), scenario);
        await handler.HandleAsync(message, context, CancellationToken.None);
        return (message, context.Sent.Single());
    }

    private async Task<Account> AccountOfAsync(Scenario scenario)
    {
        var (message, sent) = await HandleAsync(scenario);
        var mistake = Sinks.MistakeIn(scenario.Expects!(message, null), [Sink], at: 0, sent.Message.Document);
        return Account.Of(
            new History
            {
                Sendings = [new Sending(message.MessageId, SendResult.Acked)],
                Attempts = AttemptJournal.Read(Journal),
                Rows = [],
                Sink = [new SinkRow(sent.Message.MessageId, sent.Message.MessageId) { Mistake = mistake }],
                Errors = [],
                Queue = [],
                Prepared = [],
            },
            new Workload(scenario.Rows, Sends: true, ReceiveIsBranch: false));
    }

    private sealed record Sent(string Queue, WidgetBuilt Message);

    private sealed class Context : IMessageContext
    {
        public List<Sent> Sent { get; } = [];

        public ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

        public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken)
        {
            Sent.Add(new Sent(queue, message));
            return Task.CompletedTask;
        }

        public Task ReplyAsync(WidgetBuilt message, CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task PublishAsync(WidgetReady message, CancellationToken cancellationToken) => throw new NotSupportedException();
    }
}
