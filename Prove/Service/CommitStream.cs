using System.Collections.Concurrent;
using System.Globalization;
using System.Text.RegularExpressions;
using Npgsql;
using Npgsql.Replication;
using Npgsql.Replication.TestDecoding;

namespace Kit.Prove.Service;

/// <summary>The transactions of a log as they are committed. Each database sends its own, in the order of the commits.</summary>
internal sealed partial class CommitStream : IAsyncDisposable
{
    private static readonly TestDecodingOptions Options = new(includeXids: false, includeTimestamp: true, skipEmptyXacts: true);
    private static readonly TimeSpan ToEnd = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(20);

    private readonly IReadOnlyList<LogSlot> slots;
    private readonly Action<CommittedTransaction> take;
    private readonly CancellationTokenSource ending = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource> marks = new();
    private readonly TaskCompletionSource begun = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private int opened;

    /// <param name="slots">Temporary ones are created by the stream.</param>
    /// <param name="take">Receives each transaction. Called by a task of each database.</param>
    public CommitStream(IReadOnlyList<LogSlot> slots, Action<CommittedTransaction> take)
    {
        (this.slots, this.take) = (slots, take);
        Reading = Task.WhenAll(slots.Select(ReadAsync));
    }

    /// <summary>Fails if a server ends the stream; ends when this is disposed.</summary>
    public Task Reading { get; }

    /// <summary>Waits until every transaction that is committed from now on will come.</summary>
    /// <exception cref="NpgsqlException">A server refuses the stream.</exception>
    public Task BeginAsync(CancellationToken cancellationToken) => begun.Task.WaitAsync(cancellationToken);

    /// <summary>Waits until everything that was committed before has come.</summary>
    /// <exception cref="NpgsqlException">A server has ended the stream, or cannot be asked.</exception>
    public async Task CatchUpAsync(CancellationToken cancellationToken)
    {
        foreach (var slot in slots)
        {
            var mark = Guid.NewGuid().ToString("N");
            var seen = marks[mark] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await using var emit = slot.Source.CreateCommand("SELECT pg_logical_emit_message(true, 'kit', $1)");
            emit.Parameters.Add(new NpgsqlParameter<string> { TypedValue = mark });
            await emit.ExecuteNonQueryAsync(cancellationToken);
            if (await Task.WhenAny(seen.Task, Reading).WaitAsync(cancellationToken) == Reading)
                await Reading;
        }
    }

    /// <summary>Ends it, and waits until the servers have noticed that: a slot in use cannot be dropped.</summary>
    public async ValueTask DisposeAsync()
    {
        await ending.CancelAsync();
        await Reading.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        ending.Dispose();
        using var patience = new CancellationTokenSource(ToEnd);
        foreach (var slot in slots)
        {
            while (await slot.IsActiveAsync() && !patience.IsCancellationRequested)
                await Task.Delay(Look, CancellationToken.None);
        }
    }

    /// <summary>The moment in the last line of a transaction: <c>COMMIT (at 2026-11-29 20:15:00.123456+00)</c>.</summary>
    public static DateTimeOffset MomentIn(string line) =>
        DateTimeOffset.Parse(Moment().Match(line).Groups["moment"].Value, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal);

    private async Task ReadAsync(LogSlot slot)
    {
        try
        {
            // The moments of commits come in the time zone of the session.
            await using var connection = new LogicalReplicationConnection(
                new NpgsqlConnectionStringBuilder(slot.Connection) { Timezone = "UTC" }.ConnectionString);
            await connection.Open(ending.Token);
            if (slot.Holder is not null)
            {
                await connection.CreateTestDecodingReplicationSlot(
                    slot.Name, temporarySlot: true, LogicalSlotSnapshotInitMode.NoExport, cancellationToken: ending.Token);
            }

            if (Interlocked.Increment(ref opened) == slots.Count)
                begun.TrySetResult();
            List<string> changes = [];
            await foreach (var message in connection.StartReplication(new TestDecodingReplicationSlot(slot.Name), ending.Token, Options))
            {
                Take(slot.Database, message.Data, changes);
                connection.SetReplicationStatus(message.WalEnd);
            }
        }
        catch (OperationCanceledException) when (ending.IsCancellationRequested)
        {
            // It was told to end.
        }
        catch (Exception failure)
        {
            begun.TrySetException(failure);
            throw;
        }
    }

    private void Take(string database, string line, List<string> changes)
    {
        if (CommittedTransaction.ChangeIn(line) is { } change)
        {
            changes.Add(change);
        }
        else if (line.StartsWith("COMMIT", StringComparison.Ordinal))
        {
            if (changes.Count > 0)
                take(new CommittedTransaction(database, [.. changes], MomentIn(line)));
            changes.Clear();
        }
        else if (Mark().Match(line) is { Success: true } mark && marks.TryRemove(mark.Groups["mark"].Value, out var seen))
        {
            seen.TrySetResult();
        }
    }

    [GeneratedRegex(@"\(at (?<moment>.*)\)$", RegexOptions.ExplicitCapture, Timeout.Infinite)]
    private static partial Regex Moment();

    // message: transactional: 1 prefix: kit, sz: 32 content:…
    [GeneratedRegex(@"^message: .* prefix: kit, .*content:(?<mark>[0-9a-f]{32})", RegexOptions.ExplicitCapture, Timeout.Infinite)]
    private static partial Regex Mark();
}
