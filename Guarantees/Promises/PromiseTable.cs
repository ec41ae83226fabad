using System.Collections;

namespace Kit.Guarantees.Promises;

/// <summary>
/// What a mode promises, an entry for each fault: a table without a default. Where an entry has two sets, the second holds where the queue is
/// a broker's.
/// </summary>
internal sealed class PromiseTable : IEnumerable<Fault>
{
    private readonly Dictionary<Fault, (IReadOnlySet<DeliveryClass> InDatabase, IReadOnlySet<DeliveryClass> OnBroker)> entries = [];

    /// <param name="always">What a message can be whatever goes wrong, and how often.</param>
    public PromiseTable(DeliveryClass[] always) => Always = always.ToHashSet();

    private PromiseTable(PromiseTable other)
    {
        Always = other.Always;
        entries = new(other.entries);
    }

    public IReadOnlySet<DeliveryClass> Always { get; }

    /// <summary>The same wherever the queue is.</summary>
    public void Add(Fault fault, DeliveryClass[] classes) => Add(fault, classes, onBroker: classes);

    /// <param name="fault">What goes wrong.</param>
    /// <param name="inDatabase">The classes where the queue is a table.</param>
    /// <param name="onBroker">The classes where the queue is a broker's: acknowledgements and sends are then messages of their own.</param>
    public void Add(Fault fault, DeliveryClass[] inDatabase, DeliveryClass[] onBroker) =>
        entries.Add(fault, (inDatabase.ToHashSet(), onBroker.ToHashSet()));

    /// <summary>A copy with one entry changed.</summary>
    public PromiseTable With(Fault fault, params DeliveryClass[] classes)
    {
        var copy = new PromiseTable(this);
        copy.entries[fault] = (classes.ToHashSet(), classes.ToHashSet());
        return copy;
    }

    /// <exception cref="NotSupportedException">The fault has no entry.</exception>
    public IReadOnlySet<DeliveryClass> Of(Fault fault, bool isBroker) => entries.TryGetValue(fault, out var entry)
        ? isBroker ? entry.OnBroker : entry.InDatabase
        : throw new NotSupportedException($"Nobody has said what is promised under '{fault}'. Enter it in the table of each mode.");

    public IEnumerator<Fault> GetEnumerator() => entries.Keys.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
