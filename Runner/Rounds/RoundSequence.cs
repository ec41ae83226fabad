using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage;

namespace Kit.Runner.Rounds;

/// <summary>The rounds of a run: a trial of each cell's length, each cell once a round, and noisy rounds again.</summary>
internal sealed class RoundSequence(RunPlan plan, RunRecord record, ServersAndWorkers servers, IRunDisplay display)
{
    private int planned;

    /// <exception cref="KitException">A server has ended, or a round cannot be saved.</exception>
    public async Task RunAsync(CancellationToken cancellationToken)
    {
        await TryLengthsAsync(cancellationToken);
        planned = record.Cells.Count * plan.Sizes.Rounds;
        display.Plan(
            [.. record.Cells.Select(cell => Provenance.NameOf(cell).ToString())], plan.Sizes.Rounds, plan.Precision is not null,
            [.. record.Rounds.Select(FinishedRound.Of)]);
        var begun = 0;
        await foreach (var (cell, round) in plan.Rounds(record.Cells, cancellationToken))
        {
            if (round > begun && IsPreciseAfter(begun))
                break;
            begun = round;
            if (plan.AttemptAt(cell, round) is { } attempt)
                await MeasureAsync(cell, round, attempt, cancellationToken);
        }

        planned = record.Rounds.Count;
        if (plan.RepeatNoisy)
            await RepeatNoisyAsync(cancellationToken);

        if (plan.Precision is { } asked)
        {
            record.Save(run => run with
            {
                Settings = run.Settings with { Rounds = begun },
                Precision = asked with { Widest = new RecordedRun(run, record.Rounds).WidestInterval },
            });
        }
    }

    /// <summary>Drains each cell once, unmeasured, to find out how many messages it needs for a round that is long enough.</summary>
    private async Task TryLengthsAsync(CancellationToken cancellationToken)
    {
        if (record.Document.AtLeast is not { } asked)
            return;

        // A resumed run has those of the cells that were tried before.
        foreach (var cell in record.Cells.Where(cell => asked.Cells.All(tried => tried.Cell != Provenance.NameOf(cell))))
        {
            var name = Provenance.NameOf(cell);
            var trial = await DrainAsync(cell, number: 0, attempt: 1, $"{name}, trial of its length", cancellationToken);
            var messages = asked.MessagesAfter(plan.Sizes.Messages, trial.Outcome.IsValid() ? trial.Throughput : null);
            record.Save(run => run with { AtLeast = run.AtLeast! with { Cells = [.. run.AtLeast.Cells, new CellMessages(name, messages)] } });
            display.Note($"{name}: {Figures.Count(messages)} messages in each round, after a trial of {Figures.Measured(trial.Throughput.ElapsedSeconds)} s.");
        }
    }

    /// <summary>
    /// True if the ratios are as narrow as was asked for. Later rounds, which a resumed run may have, do not count: it ends where it would have.
    /// </summary>
    private bool IsPreciseAfter(int round) => plan.Precision is { } precision
        && precision.IsReached(round, new RecordedRun(record.Document, [.. record.Rounds.Where(each => each.Round <= round)]).WidestInterval);

    private async Task RepeatNoisyAsync(CancellationToken cancellationToken)
    {
        var noisy = RoundAttempts.ToRepeat(record.Rounds, round => (round.Cell, round.Round));
        planned += noisy.Count;
        if (noisy.Count > 0)
            display.Note($"Noisy rounds: {noisy.Count}; they are repeated.");

        foreach (var round in noisy)
            await MeasureAsync(record.Cells.Single(cell => Provenance.NameOf(cell) == round.Cell), round.Round, attempt: 2, cancellationToken);
    }

    private async Task MeasureAsync(Cell cell, int round, int attempt, CancellationToken cancellationToken)
    {
        var document = await DrainAsync(
            cell, round, attempt, $"{Provenance.NameOf(cell)}, round {round} of {plan.Sizes.Rounds}{(attempt > 1 ? ", again" : "")}", cancellationToken);
        // Not a round of the cell's: it is measured when the run goes on.
        if (!document.Outcome.IsValid() && servers.SettingsOf(cell).HasEnded)
            throw new KitException(string.Join("; ", document.Outcome.Reasons), "See the server's log.");
        record.Add(document);
        display.Finished(RoundLine.Of(document), FinishedRound.Of(document), record.Rounds.Count, planned);
    }

    private async Task<RoundDocument> DrainAsync(Cell cell, int number, int attempt, string shown, CancellationToken cancellationToken)
    {
        await servers.WaitForWorkersAsync(cancellationToken);
        var settings = servers.SettingsOf(cell);
        var progress = display.Round(Provenance.NameOf(cell).ToString(), number, shown, settings.Sizes.Messages);
        var document = await new Round(settings, cell, progress).RunAsync(number, attempt, cancellationToken);
        cancellationToken.ThrowIfCancellationRequested();
        return document;
    }
}
