using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Faults.Points;

/// <summary>The verdict on an experiment that met its point: one rule for the kit's cells and for a user's application.</summary>
internal static class PointVerdict
{
    /// <summary>The promise to a message that no fault disturbs.</summary>
    public static IReadOnlySet<DeliveryClass> PromisedUndisturbed { get; } = new HashSet<DeliveryClass> { DeliveryClass.Once };

    /// <summary>The classes of a message that lacks effects.</summary>
    private static readonly IReadOnlySet<DeliveryClass> WithoutAllEffects = new HashSet<DeliveryClass>
    {
        DeliveryClass.Torn, DeliveryClass.InDoubt, DeliveryClass.Ghost, DeliveryClass.Zombie, DeliveryClass.Stuck, DeliveryClass.Lost,
        DeliveryClass.CleanError,
    };

    /// <summary>The classes that stay, however long one waits.</summary>
    private static readonly IReadOnlyList<DeliveryClass> Final = [DeliveryClass.Unexpected, DeliveryClass.Duplicated, DeliveryClass.DuplicatedOutgoing];

    /// <summary>True if a message with this promise may lack effects for ever. If not, the experiments wait for them.</summary>
    public static bool MayLackEffects(IEnumerable<DeliveryClass> promised) => promised.Any(WithoutAllEffects.Contains);

    /// <summary>The verdict on an experiment that did not meet its point. It can show that a promise is broken, and never that it is kept.</summary>
    /// <inheritdoc cref="Of" path="/param"/>
    public static FaultVerdict OfNotMet(string? unsettled, bool isBroken, IEnumerable<DeliveryClass> notPromised) =>
        Of(unsettled, isBroken, notPromised) is FaultVerdict.Broken ? FaultVerdict.Broken : FaultVerdict.Void;

    /// <summary>
    /// The verdict on an experiment that met its point. If the subject did not come to rest, missing effects can still come, and nothing is shown. Duplicates,
    /// and what nobody asked for, stay, so their promise is broken.
    /// </summary>
    /// <param name="unsettled">A text that says that it did not come to rest; <see langword="null"/> if it did.</param>
    /// <param name="isBroken">True if anything was found that is not promised.</param>
    /// <param name="notPromised">The classes of messages that broke their promise.</param>
    public static FaultVerdict Of(string? unsettled, bool isBroken, IEnumerable<DeliveryClass> notPromised) => (isBroken, unsettled) switch
    {
        (true, null) => FaultVerdict.Broken,
        (false, null) => FaultVerdict.Kept,
        (_, not null) => notPromised.Any(Final.Contains) ? FaultVerdict.Broken : FaultVerdict.Void,
    };
}
