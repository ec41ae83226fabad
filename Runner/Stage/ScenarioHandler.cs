using System.Data.Common;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Stage;

/// <summary>
/// The unchanged handler of a scenario in an experiment. Around it, and at its insert, each attempt is recorded in a journal that outlives the process.
/// </summary>
internal sealed class ScenarioHandler : IExperimentHandler, IWidgetInsert
{
    /// <summary>Journal lines of an attempt without a fault: started, before the insert or without one, after the send, returned.</summary>
    public const int LinesPerAttempt = 4;

    private readonly ExperimentSpec spec;
    private readonly Scenario scenario;
    private readonly AttemptJournal journal;
    private readonly HandleMessage handle;
    private readonly AsyncLocal<Attempt?> current = new();

    /// <exception cref="NotSupportedException">The fault needs a handler that does something else.</exception>
    public ScenarioHandler(ExperimentSpec spec, Scenario scenario)
    {
        if (spec.Script.Acts.Count > 0)
        {
            throw new NotSupportedException(
                $"The handler of the scenario '{scenario.Name}' runs unchanged, and cannot follow a script: {string.Join(", ", spec.Script.Acts)}.");
        }

        (this.spec, this.scenario) = (spec, scenario);
        journal = new AttemptJournal(spec.Journal);
        handle = scenario.Handle(this, spec.Sink);
    }

    public async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        var attempt = new Attempt(journal, message.MessageId);
        current.Value = attempt;
        await ReachAsync(attempt, AttemptPoint.Started);
        if (scenario.Rows == 0)
            await ReachAsync(attempt, AttemptPoint.BeforeInsert);
        await handle(message, context, cancellationToken);
        await ReachAsync(attempt, AttemptPoint.AfterSend);
        attempt.Note(AttemptPoint.Returned);
    }

    /// <summary>The insert of the scenario's handler: its row names the attempt.</summary>
    public async Task InsertAsync(DbConnection connection, DbTransaction? transaction, Widget widget, CancellationToken cancellationToken)
    {
        var attempt = current.Value ?? throw new InvalidOperationException("Expected an insert within an attempt of the handler, and there is none.");
        if (attempt.Session == 0)
            await ReachAsync(attempt, AttemptPoint.BeforeInsert);
        await attempt.InsertAsync(connection, widget.Id, cancellationToken);
    }

    public ValueTask DisposeAsync()
    {
        journal.Dispose();
        return ValueTask.CompletedTask;
    }

    private Task ReachAsync(Attempt attempt, AttemptPoint point) => attempt.ReachAsync(
        point, spec.Script.ParksAt == point && attempt.MessageId == spec.Chosen);
}
