using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The server's slots for prepared transactions (<c>max_prepared_transactions</c>), as one endpoint uses them. Each message takes one before its handler
/// runs, and returns it when the branch has ended. An endpoint uses no more than <see cref="SlotNeeds"/> allows. If none is free, a bare endpoint's
/// workers wait without receiving; NServiceBus has received the message by then, and it goes back to its queue.
/// </summary>
[SuppressMessage("Design", "CA1001:Types that own disposable fields should be disposable",
    Justification = "A semaphore whose wait handle is never used holds no resource.")]
internal sealed partial class Slots(NpgsqlDataSource server, SlotNeeds needs, ILogger log, Action<BranchId> ended)
{
    /// <summary>Counts all slots of the server in use. It calls the function instead of the view, which would join catalogs.</summary>
    public const string CountUsed = "SELECT count(*) FROM pg_prepared_xact()";

    /// <summary>How long to wait for a slot before the answer is that none is free.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromMilliseconds(200);

    private static readonly TimeSpan BetweenReadings = TimeSpan.FromMilliseconds(100);
    private static readonly TimeSpan BetweenWarnings = TimeSpan.FromMinutes(1);

    private readonly SemaphoreSlim own = new(needs.Most);
    private readonly ConcurrentDictionary<BranchId, TaskCompletionSource> left = new();
    private long used;
    private int preparing;
    private long readAt;
    private long warnedAt;
    private int reading;

    /// <summary>Branches whose second phase failed or whose decision is unknown, until recovery has ended them.</summary>
    public IReadOnlyCollection<BranchId> Left => [.. left.Keys];

    /// <summary>How many of the server's slots, of any owner, were in use when they were last counted.</summary>
    public long Used => Volatile.Read(ref used);

    /// <returns>The slot, or <see langword="null"/> if none is free now.</returns>
    /// <exception cref="NpgsqlException">The server cannot be reached.</exception>
    public async ValueTask<Slot?> TryTakeAsync()
    {
        if (!await own.WaitAsync(Patience))
            return null;

        try
        {
            if (await IsOneFreeAsync())
            {
                Interlocked.Increment(ref preparing);
                return new Slot(this);
            }
        }
        catch
        {
            own.Release();
            throw;
        }

        own.Release();
        return null;
    }

    /// <summary>The branch has ended.</summary>
    public void Return(BranchId branch)
    {
        ended(branch);
        own.Release();
    }

    /// <summary>The branch stays prepared, and recovery ends it.</summary>
    public void Leave(BranchId branch) => left.TryAdd(branch, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));

    /// <summary>Completes when a branch that was left is no longer prepared.</summary>
    public Task EndOf(BranchId branch) => left.TryGetValue(branch, out var waiting) ? waiting.Task : Task.CompletedTask;

    /// <summary>Recovery found that the branch is no longer prepared.</summary>
    public void ReturnLeft(BranchId branch)
    {
        if (!left.TryRemove(branch, out var waiting))
            return;

        Return(branch);
        waiting.SetResult();
    }

    /// <summary>A branch found no slot: no worker receives before the slots have been counted again.</summary>
    public void SawNone() => Saw(needs.Total);

    /// <param name="slots">How many are in use.</param>
    public void Saw(long slots)
    {
        Volatile.Write(ref used, slots);
        Volatile.Write(ref readAt, Stopwatch.GetTimestamp());
    }

    private bool IsOneFree() => needs.Total - Used - Volatile.Read(ref preparing) > 0;

    private async ValueTask<bool> IsOneFreeAsync()
    {
        if (IsOneFree())
            return true;
        if (Stopwatch.GetElapsedTime(Volatile.Read(ref readAt)) < BetweenReadings || Interlocked.Exchange(ref reading, 1) == 1)
            return false;

        try
        {
            await using var command = server.CreateCommand(CountUsed);
            Saw((long)(await command.ExecuteScalarAsync())!);
        }
        finally
        {
            Volatile.Write(ref reading, 0);
        }

        if (IsOneFree())
            return true;

        Warn();
        return false;
    }

    private void Warn()
    {
        var last = Volatile.Read(ref warnedAt);
        if (last != 0 && Stopwatch.GetElapsedTime(last) < BetweenWarnings)
            return;

        // Two workers can have counted one after the other, and come here together.
        if (Interlocked.CompareExchange(ref warnedAt, Stopwatch.GetTimestamp(), last) == last)
            LogWaiting(Used, needs.Total);
    }

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "{Used} of the server's {Total} slots for prepared transactions are in use: messages wait until one is free. " +
            "pg_prepared_xacts and the command 'branches' show who holds the slots.")]
    private partial void LogWaiting(long used, int total);

    /// <summary>One slot, from the receive to the end of the unit.</summary>
    internal sealed class Slot(Slots slots) : IDisposable
    {
        private bool isKept;

        /// <summary>The branch is prepared, and keeps the slot until it is ended.</summary>
        public void Keep() => isKept = true;

        public void Dispose()
        {
            Interlocked.Decrement(ref slots.preparing);
            if (!isKept)
                slots.own.Release();
        }
    }
}
