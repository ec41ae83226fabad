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

    private readonly IReadOnlyList<(string Database, string Slot, NpgsqlDataSource Source, string Connection)> slots;
    private readonly Action<CommittedTransaction> take;
    private readonly CancellationTokenSource ending = new();
    private readonly ConcurrentDictionary<string, TaskCompletionSource> marks = new();

    /// <param name="take">Receives each transaction. Called by a task of each database.</param>
    public CommitStream(IReadOnlyList<(string Database, string Slot, NpgsqlDataSource Source, string Connection)> slots, Action<CommittedTransaction> take)
    {
        (this.slots, this.take) = (slots, take);
        Reading = Task.WhenAll(slots.Select(slot => ReadAsync(slot.Database, slot.Slot, slot.Connection)));
    }

    /// <summary>Fails if a server ends the stream; ends when this is disposed.</summary>
    public Task Reading { get; }

    /// <summary>Waits until everything that was committed before has come.</summary>
    /// <exception cref="NpgsqlException">A server has ended the stream, or cannot be asked.</exception>
    public async Task CatchUpAsync(CancellationToken cancellationToken)
    {
        foreach (var (_, _, source, _) in slots)
        {
            var mark = Guid.NewGuid().ToString("N");
            var seen = marks[mark] = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await using var emit = source.CreateCommand("SELECT pg_logical_emit_message(true, 'kit', $1)");
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
        foreach (var (_, slot, source, _) in slots)
        {
            while (await IsActiveAsync(slot, source) && !patience.IsCancellationRequested)
                await Task.Delay(Look, CancellationToken.None);
        }
    }

    /// <summary>The moment in the last line of a transaction: <c>COMMIT (at 2026-11-29 20:15:00.123456+00)</c>.</summary>
    public static DateTimeOffset MomentIn(string line) =>
        DateTimeOffset.Parse(Moment().Match(line).Groups["moment"].Value, CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal);

    private static async Task<bool> IsActiveAsync(string slot, NpgsqlDataSource source)
    {
        await using var ask = source.CreateCommand("SELECT active FROM pg_replication_slots WHERE slot_name = $1");
        ask.Parameters.Add(new NpgsqlParameter<string> { TypedValue = slot });
        return await ask.ExecuteScalarAsync() is true;
    }

    private async Task ReadAsync(string database, string slot, string connectionString)
    {
        try
        {
            // The moments of commits come in the time zone of the session.
            await using var connection = new LogicalReplicationConnection(
                new NpgsqlConnectionStringBuilder(connectionString) { Timezone = "UTC" }.ConnectionString);
            await connection.Open(ending.Token);
            List<string> changes = [];
            await foreach (var message in connection.StartReplication(new TestDecodingReplicationSlot(slot), ending.Token, Options))
            {
                Take(database, message.Data, changes);
                connection.SetReplicationStatus(message.WalEnd);
            }
        }
        catch (OperationCanceledException) when (ending.IsCancellationRequested)
        {
            // It was told to end.
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
