using Kit.Modes;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>What the workers of one endpoint share in <c>full-dtc</c>: slots, the second phase, and recovery, which runs first.</summary>
internal sealed partial class FullDtc : IAsyncDisposable
{
    private static readonly ByMode<bool> SecondPhaseIsWaitedFor = new("the kit's two-phase commit")
    {
        { TransactionMode.FullDtc, false },
        { TransactionMode.FullDtcWaiting, true },
    };

    private readonly BranchConnections connections;
    private readonly Recovery recovery;

    private FullDtc(BranchConnections connections, QueueDatabase database, SlotNeeds needs, bool isWaiting, TransactionSettings settings, ILogger log)
    {
        Settings = settings;
        this.connections = connections;
        Database = database;
        Slots = new Slots(connections.Data, needs, log);
        SecondPhase = isWaiting ? new WaitingSecondPhase(Slots, log) : new BackgroundSecondPhase(connections.Data, Slots, log);
        recovery = new Recovery(connections.Data, database, log, Slots);
    }

    public QueueDatabase Database { get; }

    /// <summary>The settings of the ambient transactions and the branches.</summary>
    public TransactionSettings Settings { get; }

    public Slots Slots { get; }

    public ISecondPhase SecondPhase { get; }

    /// <summary>The branches of the queue that recovery could not end in its last pass. Each holds a slot and its locks.</summary>
    public int BranchesLeft => recovery.Left;

    /// <summary>Checks the servers and runs recovery once.</summary>
    /// <param name="queues">The queue's database.</param>
    /// <param name="data">How the handlers reach their database.</param>
    /// <param name="mode">The endpoint's mode, which decides whether workers wait for the second phase.</param>
    /// <param name="concurrency">The number of the endpoint's workers.</param>
    /// <param name="settings">The settings of the ambient transactions and the branches.</param>
    /// <param name="log">The endpoint's log.</param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <exception cref="InvalidOperationException">The servers lack something that the mode needs. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public static async Task<FullDtc> StartAsync(
        NpgsqlDataSource queues, NpgsqlConnectionStringBuilder data,
        TransactionMode mode, int concurrency, TransactionSettings settings, ILogger log, CancellationToken cancellationToken)
    {
        var isWaiting = SecondPhaseIsWaitedFor.Of(mode);
        var opened = BranchConnections.Create(data);
        try
        {
            var database = await QueueDatabase.ReadAsync(queues, cancellationToken);
            var needs = await Preflight.CheckAsync(opened.Data, concurrency, cancellationToken);
            var started = new FullDtc(opened, database, needs, isWaiting, settings, log);
            await started.RecoverAsync(olderThan: TimeSpan.Zero, cancellationToken);
            started.WarnOfFewSlots(needs, log);
            return started;
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    /// <summary>Runs one atomic unit: its work, and then its second phase.</summary>
    /// <param name="slot">The unit's slot. It is kept if the branch holds it.</param>
    /// <param name="receive">The transaction that received, whose commit decides the unit.</param>
    /// <param name="transactionId">Its id.</param>
    /// <param name="data">The handlers' database.</param>
    /// <param name="handle">Does the work, and commits the unit.</param>
    public async Task RunAsync(
        Slots.Slot slot, NpgsqlTransaction receive, ulong transactionId, NpgsqlDataSource data, Func<AtomicUnit, Task> handle)
    {
        var id = new BranchId(Database, transactionId);
        var unit = new AtomicUnit(receive, id, data, Settings.Isolation);
        try
        {
            await handle(unit);
        }
        finally
        {
            // Frees the connection for another handler before the second phase begins.
            await unit.DisposeAsync();
            if (unit.IsLeft)
            {
                slot.Keep();
                Slots.Leave(id);
            }
        }

        if (unit.Prepared is { } branch)
        {
            slot.Keep();
            await SecondPhase.FinishAsync(branch);
        }
    }

    /// <inheritdoc cref="Recovery.RunAsync"/>
    public Task<int> RecoverAsync(TimeSpan olderThan, CancellationToken cancellationToken) => recovery.RunAsync(olderThan, cancellationToken);

    /// <summary>Commits the decided branches. Call it when no worker runs.</summary>
    public async ValueTask DisposeAsync()
    {
        await SecondPhase.DisposeAsync();
        await connections.DisposeAsync();
    }

    private void WarnOfFewSlots(SlotNeeds needs, ILogger log)
    {
        if (needs.Total - Slots.Used < needs.Fewest)
            LogFewSlots(log, needs.Fewest, Slots.Used, needs.Total);
    }

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "full-dtc needs {Fewest} slots for prepared transactions, and {Used} of the server's {Total} are in use. " +
            "Messages wait while none is free. " +
            "Raise max_prepared_transactions to the sum of what all endpoints and applications need. " +
            "The command 'branches' shows who holds the slots.")]
    private static partial void LogFewSlots(ILogger log, int fewest, long used, int total);
}
