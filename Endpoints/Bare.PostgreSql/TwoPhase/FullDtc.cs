using Kit.Modes;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>What the workers of one endpoint share in <c>full-dtc</c>: slots, the second phase, and recovery, which runs first.</summary>
internal sealed class FullDtc : IAsyncDisposable
{
    private readonly Branches branches;

    private FullDtc(Branches branches, bool isWaiting, TransactionSettings settings, ILogger log, CancellationToken stopping)
    {
        Settings = settings;
        this.branches = branches;
        SecondPhase = isWaiting
            ? new WaitingSecondPhase(branches.Decisions, Slots, log, stopping)
            : new BackgroundSecondPhase(branches.Data, branches.Decisions, Slots, log);
    }

    /// <summary>The settings of the ambient transactions and the branches.</summary>
    public TransactionSettings Settings { get; }

    public Slots Slots => branches.Slots;

    public ISecondPhase SecondPhase { get; }

    /// <inheritdoc cref="Branches.Left"/>
    public int BranchesLeft => branches.Left;

    /// <summary>Checks the servers and runs recovery once.</summary>
    /// <param name="decisions">The record of the decisions.</param>
    /// <param name="data">How the handlers reach their database.</param>
    /// <param name="isWaiting">Whether workers wait for the second phase.</param>
    /// <param name="concurrency">The number of the endpoint's workers.</param>
    /// <param name="settings">The settings of the ambient transactions and the branches.</param>
    /// <param name="log">The endpoint's log.</param>
    /// <param name="stopping">Cancelled when the endpoint stops receiving.</param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <inheritdoc cref="Branches.StartAsync" path="/exception"/>
    public static async Task<FullDtc> StartAsync(
        IDecisionLog decisions, NpgsqlConnectionStringBuilder data,
        bool isWaiting, int concurrency, TransactionSettings settings, ILogger log, CancellationToken stopping, CancellationToken cancellationToken) =>
        new(await Branches.StartAsync(decisions, data, concurrency, log, cancellationToken), isWaiting, settings, log, stopping);

    /// <summary>Runs one atomic unit: its work, and then its second phase.</summary>
    /// <param name="slot">The unit's slot. It is kept if the branch holds it.</param>
    /// <param name="decision">Decides the unit.</param>
    /// <param name="data">The handlers' database.</param>
    /// <param name="handle">Does the work, and commits the unit.</param>
    public async Task RunAsync(Slots.Slot slot, IDecision decision, NpgsqlDataSource data, Func<AtomicUnit, Task> handle)
    {
        var unit = new AtomicUnit(decision, data, Settings.Isolation);
        try
        {
            await handle(unit);
        }
        finally
        {
            // Frees the connection for another handler before the second phase begins.
            await unit.DisposeAsync();
            decision.Close();
            if (unit.IsLeft)
            {
                slot.Keep();
                Slots.Leave(unit.Id);
                // Before that, the receive's transaction may still be open here, and recovery would wait for it.
                if (unit.HasTriedToDecide)
                    await SecondPhase.LeftAsync(unit.Id);
            }
        }

        if (unit.Prepared is { } branch)
        {
            slot.Keep();
            await SecondPhase.FinishAsync(branch);
        }
    }

    /// <inheritdoc cref="Recovery.RunAsync"/>
    public Task<int> RecoverAsync(TimeSpan olderThan, CancellationToken cancellationToken) => branches.RecoverAsync(olderThan, cancellationToken);

    /// <summary>Commits the decided branches. Call it when no worker runs.</summary>
    public async ValueTask DisposeAsync()
    {
        await SecondPhase.DisposeAsync();
        await branches.DisposeAsync();
    }
}
