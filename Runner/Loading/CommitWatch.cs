using System.Collections.Concurrent;
using Kit.Handlers;
using Npgsql;

namespace Kit.Runner.Loading;

/// <summary>Tells when the row of a message is committed.</summary>
internal interface ICommitWatch
{
    /// <summary>Ends when the row of a message is committed, or after some time without one.</summary>
    /// <param name="message">The message, not yet sent.</param>
    /// <param name="patience">How long to wait.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="NpgsqlException">The database no longer answers.</exception>
    Task WaitAsync(Guid message, TimeSpan patience, CancellationToken cancellationToken);
}

/// <summary>Asks the database, for all users at once, which of the awaited rows it has committed.</summary>
/// <remarks>
/// <para>
/// One connection asks, and pauses a millisecond between two questions; while no user waits, it asks nothing. A trigger with NOTIFY would tell at once, but
/// PostgreSQL lets only one transaction with a notification commit at a time, its flush included: that would change what is measured.
/// </para>
/// <para>
/// The ids of rows contain the time at which the handler made them. So the question reads, in the primary key's index, only the rows that are not older
/// than the oldest awaited message, and needs no index on the message's id, which would make each insert more expensive.
/// </para>
/// </remarks>
/// <param name="widgets">Connection string of the widgets' database.</param>
internal sealed class CommitWatch(string widgets) : ICommitWatch, IAsyncDisposable
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(1);

    // A clock that was set back a little makes no row invisible.
    private static readonly TimeSpan Slack = TimeSpan.FromMilliseconds(50);

    private readonly ConcurrentDictionary<Guid, Awaited> awaited = new();
    private readonly CancellationTokenSource ending = new();
    private Task asking = Task.CompletedTask;

    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        // Without statistics on the new rows, the planner would expect a third of the table, and read all of it.
        var connection = new NpgsqlConnection(
            new NpgsqlConnectionStringBuilder(widgets) { Options = "-c enable_seqscan=off -c enable_bitmapscan=off" }.ConnectionString);
        try
        {
            await connection.OpenAsync(cancellationToken);
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }

        asking = AskAsync(connection);
    }

    public async Task WaitAsync(Guid message, TimeSpan patience, CancellationToken cancellationToken)
    {
        var one = new Awaited(DateTime.UtcNow);
        awaited[message] = one;
        try
        {
            // When it no longer asks, it has failed.
            var first = await Task.WhenAny(one.Committed.Task, asking).WaitAsync(patience, cancellationToken);
            await first;
        }
        catch (TimeoutException)
        {
            // The account of the load says what became of the message.
        }
        finally
        {
            awaited.TryRemove(message, out _);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await ending.CancelAsync();
        await asking.ContinueWith(_ => { }, TaskScheduler.Default);
        ending.Dispose();
    }

    private async Task AskAsync(NpgsqlConnection connection)
    {
        await using var open = connection;
        await using var command = new NpgsqlCommand("SELECT message_id FROM widget WHERE id >= $1", connection);
        var since = new NpgsqlParameter<long>();
        command.Parameters.Add(since);
        await command.PrepareAsync(ending.Token);
        while (!ending.IsCancellationRequested)
        {
            if (awaited.Values.Select(one => (DateTime?)one.Since).Min() is { } oldest)
            {
                since.TypedValue = WidgetId.LowestAt(oldest - Slack);
                await using var rows = await command.ExecuteReaderAsync(CancellationToken.None);
                while (await rows.ReadAsync(CancellationToken.None))
                {
                    if (awaited.TryRemove(rows.GetGuid(0), out var one))
                        one.Committed.TrySetResult();
                }
            }

            await Task.Delay(Pause, CancellationToken.None);
        }
    }

    private sealed record Awaited(DateTime Since)
    {
        public TaskCompletionSource Committed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
