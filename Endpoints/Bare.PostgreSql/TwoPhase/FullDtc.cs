using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>What the workers of one endpoint share in <c>full-dtc</c>: for each participant slots, the second phase, and recovery, which runs first.</summary>
internal sealed class FullDtc : IAsyncDisposable
{
    private readonly OrderedDictionary<string, Part> parts = new(StringComparer.Ordinal);

    private FullDtc(TransactionSettings settings) => Settings = settings;

    /// <summary>The settings of the ambient transactions and the branches.</summary>
    public TransactionSettings Settings { get; }

    /// <summary>Checks the servers and runs recovery, once and from then on.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="participants">The databases of the branches, and the record of the decisions for each.</param>
    /// <param name="isWaiting">Whether workers wait for the second phase.</param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <inheritdoc cref="Branches.StartAsync" path="/exception"/>
    public static async Task<FullDtc> StartAsync(
        TwoPhaseEndpoint endpoint, IReadOnlyList<DecidedParticipant> participants, bool isWaiting, CancellationToken cancellationToken)
    {
        var mode = new FullDtc(endpoint.Transactions);
        try
        {
            foreach (var (participant, decisions, sharing) in participants)
            {
                var branches = await Branches.StartAsync(decisions, participant, sharing, endpoint.Concurrency, endpoint.Log, cancellationToken);
                ISecondPhase phase = isWaiting
                    ? new WaitingSecondPhase(decisions, branches.Slots, endpoint.Log, endpoint.Stopping)
                    : new BackgroundSecondPhase(branches.Data, decisions, branches.Slots, endpoint.Log);
                mode.parts.Add(participant.Name, new Part(branches, phase));
            }

            endpoint.EndAfterWorkers(mode);
            endpoint.Status.Branches = () => mode.parts.Values.Sum(part => part.Branches.Left);
            // Each by itself: a server that cannot be reached keeps the branches on the others from nothing.
            foreach (var part in mode.parts.Values)
                endpoint.Repeat(endpoint.RecoveryInterval, abandoned => part.Branches.RecoverAsync(olderThan: endpoint.RecoveryInterval, abandoned));
            return mode;
        }
        catch
        {
            await mode.DisposeAsync();
            throw;
        }
    }

    /// <returns>A slot for each participant, or <see langword="null"/> if one of them has none free now.</returns>
    /// <exception cref="NpgsqlException">A server cannot be reached.</exception>
    public async ValueTask<UnitSlots?> TryTakeSlotsAsync()
    {
        var taken = new UnitSlots();
        var hasAll = false;
        try
        {
            foreach (var (participant, part) in parts)
            {
                if (await part.Branches.Slots.TryTakeAsync() is not { } slot)
                    return null;
                taken.Add(participant, slot);
            }

            hasAll = true;
            return taken;
        }
        finally
        {
            if (!hasAll)
                taken.Dispose();
        }
    }

    /// <summary>
    /// Branches of a unit may have found no slot: no worker receives before the slots of those participants have been counted again. The others' are not
    /// counted: one that is away would keep all messages waiting.
    /// </summary>
    public void SawNoSlot(AtomicUnit unit)
    {
        foreach (var participant in unit.WithoutSlot)
            parts[participant].Branches.Slots.SawNone();
    }

    /// <summary>Runs one atomic unit: its work, and then its second phase.</summary>
    /// <param name="slots">The unit's slots. Those that its branches hold are kept.</param>
    /// <param name="decision">Decides the unit.</param>
    /// <param name="data">Reaches the database of each participant.</param>
    /// <param name="handle">Does the work, and commits the unit.</param>
    public async Task RunAsync(UnitSlots slots, IDecision decision, IReadOnlyDictionary<string, NpgsqlDataSource> data, Func<AtomicUnit, Task> handle)
    {
        var places = parts.Keys.Select(participant => new BranchPlace(participant, decision.BranchOf(participant), data[participant]));
        var unit = new AtomicUnit(decision, [.. places], Settings.Isolation);
        try
        {
            await handle(unit);
        }
        finally
        {
            try
            {
                // Frees the connections for other handlers before the second phase begins.
                await unit.DisposeAsync();
            }
            finally
            {
                decision.Close();
            }

            foreach (var left in unit.Left)
            {
                slots.Keep(left.Participant);
                parts[left.Participant].Branches.Slots.Leave(left.Id);
            }

            // Before that, the receive's transaction may still be open here, and recovery would wait for it.
            if (unit.HasTriedToDecide)
                await Task.WhenAll(unit.Left.Select(left => parts[left.Participant].SecondPhase.LeftAsync(left.Id).AsTask()));
        }

        foreach (var (participant, _) in unit.Prepared)
            slots.Keep(participant);
        await Task.WhenAll(unit.Prepared.Select(one => parts[one.Participant].SecondPhase.FinishAsync(one.Branch).AsTask()));
    }

    /// <summary>Commits the decided branches. Call it when no worker runs.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var part in parts.Values)
        {
            await part.SecondPhase.DisposeAsync();
            await part.Branches.DisposeAsync();
        }
    }

    private sealed record Part(Branches Branches, ISecondPhase SecondPhase);
}
