namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The slots of one unit: one for each participant, by name.</summary>
internal sealed class UnitSlots : IDisposable
{
    private readonly Dictionary<string, Slots.Slot> slots = new(StringComparer.Ordinal);

    public void Add(string participant, Slots.Slot slot) => slots.Add(participant, slot);

    /// <summary>The branch in the participant's database is prepared, and keeps the slot until it is ended.</summary>
    public void Keep(string participant) => slots[participant].Keep();

    public void Dispose()
    {
        foreach (var slot in slots.Values)
            slot.Dispose();
    }
}
