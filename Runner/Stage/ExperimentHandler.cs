using System.Collections.Concurrent;
using System.Data.Common;
using System.Diagnostics;
using System.Transactions;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;
using Npgsql;

namespace Kit.Runner.Stage;

/// <summary>
/// The handler of the experiments: by default two inserts and one send or publish, so that half-done work is visible. It records each step in a journal that
/// outlives its process. Like every handler of the kit, it neither commits nor knows the mode.
/// </summary>
internal sealed class ExperimentHandler(ExperimentSpec spec, IEndpointKind kind) : IExperimentHandler
{
    /// <summary>The rows of an attempt, by default.</summary>
    public const int RowsPerAttempt = 2;

    /// <summary>Journal lines of an attempt without a fault: started, before the first insert, after each, after the send, returned.</summary>
    public const int LinesPerAttempt = 6;

    private const string Nowhere = "nowhere";

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(5);

    private readonly AttemptJournal journal = new(spec.Journal);
    private readonly IMessageQueue sink = kind.OpenQueue(spec.Sink, spec.Transport);
    private readonly ConcurrentDictionary<Guid, int> attempts = new();

    public async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        var attempt = new Attempt(journal, message.MessageId);
        var behaviour = message.MessageId == spec.Chosen ? spec.Behaviour : Behaviour.Succeeds;
        var isFirst = attempts.AddOrUpdate(message.MessageId, 1, (_, made) => made + 1) == 1;
        await ReachAsync(attempt, AttemptPoint.Started, behaviour);
        if (behaviour is Behaviour.AlwaysThrowsBeforeInsert || (behaviour is Behaviour.ThrowsBeforeInsert && isFirst))
            throw Intended(attempt, "throws before its first insert");
        if (behaviour is Behaviour.WaitsForTheServer && isFirst)
            await WaitForRunnerAsync(attempt, "waits until its server is read-only");
        if (behaviour is Behaviour.SendsAtOnceAndThrows)
        {
            await SendPastTheEndpointAsync(message, cancellationToken);
            throw Intended(attempt, "has sent immediately and throws");
        }

        var connection = await context.GetAsync(cancellationToken);
        await ReachAsync(attempt, AttemptPoint.BeforeInsert, behaviour);
        var first = WidgetId.Next();
        await attempt.InsertAsync(connection, first, cancellationToken);
        await ReachAsync(attempt, AttemptPoint.AfterFirstInsert, behaviour);
        if (behaviour is Behaviour.AlwaysThrows || (behaviour is Behaviour.ThrowsAfterInsert && isFirst))
            throw Intended(attempt, "throws between its inserts");
        if (behaviour is Behaviour.Deadlocks && isFirst)
            await MeetDeadlockAsync(connection, attempt, cancellationToken);

        if (behaviour is Behaviour.WaitsForItsCopy && isFirst)
            await WaitForCopyAsync(attempt);
        if (behaviour is Behaviour.OutlivesItsTransaction && isFirst)
            await OutliveTransactionAsync(attempt);
        if (behaviour is Behaviour.WaitsForACut)
            await WaitForRunnerAsync(attempt, "waits until its receive is cut");

        if (behaviour is Behaviour.SwallowsAnError && isFirst)
            await FailToInsertAsync(connection, first, attempt, cancellationToken);
        else if (behaviour is Behaviour.OpensASecondConnection)
            await InsertOnItsOwnAsync(attempt, cancellationToken);
        else
            await InsertMoreAsync(connection, attempt, cancellationToken);

        await ReachAsync(attempt, AttemptPoint.AfterSecondInsert, behaviour);
        if (behaviour is Behaviour.LeavesSettings)
            await LeaveSettingsAsync(connection, attempt, cancellationToken);
        if (spec.Shape.ThrowsAtFirst && isFirst)
            throw Intended(attempt, "throws before its sends");

        var destination = behaviour switch
        {
            Behaviour.SendsToNowhere => Nowhere,
            Behaviour.SendsToLateQueue => spec.LateSink,
            _ => spec.Sink,
        };
        if (destination != spec.Sink)
            attempt.Note(AttemptPoint.Faulted, "sends to a queue that does not exist");
        var outgoing = new WidgetBuilt(message.MessageId);
        if (behaviour is Behaviour.SendsTooMuch && isFirst)
        {
            outgoing = outgoing with { Document = RandomLetters.Of(ExperimentSpec.TooLarge) };
            attempt.Note(AttemptPoint.Faulted, $"sends {ExperimentSpec.TooLarge} letters to a broker that takes {ExperimentSpec.LargestMessage} bytes");
        }

        if (spec.Shape.Subscribers > 0)
            await context.PublishAsync(new WidgetReady(message.MessageId), cancellationToken);
        for (var sent = 0; sent < spec.Shape.Sends; sent++)
            await context.SendAsync(destination, outgoing, cancellationToken);
        await ReachAsync(attempt, AttemptPoint.AfterSend, behaviour);
        attempt.Note(AttemptPoint.Returned);
    }

    public ValueTask DisposeAsync()
    {
        journal.Dispose();
        return sink.DisposeAsync();
    }

    private Task ReachAsync(Attempt attempt, AttemptPoint point, Behaviour behaviour) =>
        attempt.ReachAsync(point, behaviour is Behaviour.Parks && spec.ParksAt == point);

    private static async Task OutliveTransactionAsync(Attempt attempt)
    {
        attempt.Note(
            AttemptPoint.Faulted,
            $"waits for {ExperimentSpec.LongerThanThat.TotalSeconds} s; its transaction times out after {ExperimentSpec.ShortTransaction.TotalSeconds} s");
        await Task.Delay(ExperimentSpec.LongerThanThat, CancellationToken.None);
    }

    // Two workers have the message if another handler was entered, or if an endpoint that stores ids waits for this one's commit.
    private async Task WaitForCopyAsync(Attempt attempt)
    {
        await using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(spec.Widgets) { Enlist = false, Pooling = false });
        await using var onlooker = await source.OpenConnectionAsync();
        for (var watch = Stopwatch.StartNew(); watch.Elapsed < ExperimentSpec.ForACopy; await Task.Delay(Pause, CancellationToken.None))
        {
            var isEntered = attempts[attempt.MessageId] > 1;
            if (!isEntered && !await Deadlock.IsWaitedForAsync(onlooker, attempt.Session, CancellationToken.None))
                continue;

            attempt.Note(
                AttemptPoint.Faulted,
                isEntered ? "had the message while another handler had its copy" : "had the message while another session waited for its commit");
            return;
        }
    }

    private async Task WaitForRunnerAsync(Attempt attempt, string what)
    {
        attempt.Note(AttemptPoint.Faulted, what);
        while (!File.Exists(ExperimentSpec.CutMark(spec.Journal, attempt.Id)) && !File.Exists(ExperimentSpec.GoOnMark(spec.Journal)))
            await Task.Delay(Pause, CancellationToken.None);
    }

    private async Task SendPastTheEndpointAsync(BuildWidget message, CancellationToken cancellationToken)
    {
        using var outside = new TransactionScope(TransactionScopeOption.Suppress, TransactionScopeAsyncFlowOption.Enabled);
        await sink.PreloadAsync([message], cancellationToken);
        outside.Complete();
    }

    private static InvalidOperationException Intended(Attempt attempt, string what)
    {
        attempt.Note(AttemptPoint.Faulted, what);
        return new InvalidOperationException($"The experiment's handler {what}.");
    }

    private async Task InsertMoreAsync(DbConnection connection, Attempt attempt, CancellationToken cancellationToken)
    {
        for (var rows = 1; rows < spec.Shape.Inserts; rows++)
            await attempt.InsertAsync(connection, WidgetId.Next(), cancellationToken);
    }

    private static async Task FailToInsertAsync(DbConnection connection, long taken, Attempt attempt, CancellationToken cancellationToken)
    {
        try
        {
            await attempt.InsertAsync(connection, taken, cancellationToken);
        }
        catch (DbException swallowed)
        {
            attempt.Note(AttemptPoint.Faulted, $"swallows the error {swallowed.SqlState}");
        }
    }

    // The transaction's own setting hides the session's, which stays when the transaction has committed.
    private static async Task LeaveSettingsAsync(DbConnection connection, Attempt attempt, CancellationToken cancellationToken)
    {
        const string path = $"search_path TO {ExperimentSpec.Decoys}, public";
        await using var command = connection.CreateCommand();
        command.CommandText = $"SET {path}; SET LOCAL {path}";
        await command.ExecuteNonQueryAsync(cancellationToken);
        attempt.Note(AttemptPoint.Faulted, $"has executed {command.CommandText}");
    }

    /// <summary>The driver enlists the connection in the ambient transaction, as it does by default.</summary>
    private async Task InsertOnItsOwnAsync(Attempt attempt, CancellationToken cancellationToken)
    {
        await using var own = new NpgsqlConnection(spec.Widgets);
        await own.OpenAsync(cancellationToken);
        attempt.Note(
            AttemptPoint.Faulted,
            $"has opened a second connection, {(Transaction.Current is null ? "and there is no" : "in the")} ambient transaction");
        await attempt.InsertAsync(own, WidgetId.Next(), cancellationToken);
    }

    private async Task MeetDeadlockAsync(DbConnection connection, Attempt attempt, CancellationToken cancellationToken)
    {
        try
        {
            await Deadlock.LoseAsync(connection, spec.Widgets, cancellationToken);
        }
        catch (DbException lost)
        {
            attempt.Note(AttemptPoint.Faulted, $"has lost a deadlock: {lost.SqlState}");
            throw;
        }
    }
}
