using Kit.Guarantees;

namespace Kit.Runner.Results.Proofs;

/// <summary>The promises that a user can make of an application.</summary>
public static class NamedPromises
{
    /// <summary>The classes of each promise.</summary>
    public static IReadOnlyDictionary<string, IReadOnlySet<DeliveryClass>> All { get; } = new Dictionary<string, IReadOnlySet<DeliveryClass>>
    {
        ["exactly-once"] = new HashSet<DeliveryClass> { DeliveryClass.Once },
        ["at-least-once"] = new HashSet<DeliveryClass> { DeliveryClass.Once, DeliveryClass.Duplicated, DeliveryClass.DuplicatedOutgoing },
        ["at-most-once"] = new HashSet<DeliveryClass> { DeliveryClass.Once, DeliveryClass.Lost },
    };

    /// <summary>A promise's name, or its classes if it has none.</summary>
    public static string TextOf(IEnumerable<DeliveryClass> promised)
    {
        var classes = promised.ToHashSet();
        return All.FirstOrDefault(promise => classes.SetEquals(promise.Value)).Key ?? string.Join(" or ", classes.OrderDescending().Select(Words.Of));
    }
}
