using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Points;

/// <summary>The verdict on an experiment that met its point: one rule for the kit's cells and for a user's application.</summary>
internal static class PointVerdict
{
    /// <summary>What is promised to a message that no fault disturbs.</summary>
    public static IReadOnlySet<DeliveryClass> PromisedUndisturbed { get; } = new HashSet<DeliveryClass> { DeliveryClass.Once };

    /// <summary>What a message can be that lacks effects.</summary>
    private static readonly IReadOnlySet<DeliveryClass> WithoutAllEffects = new HashSet<DeliveryClass>
    {
        DeliveryClass.Torn, DeliveryClass.InDoubt, DeliveryClass.Ghost, DeliveryClass.Zombie, DeliveryClass.Stuck, DeliveryClass.Lost,
        DeliveryClass.CleanError,
    };

    /// <summary>What stays as it is, however long one waits.</summary>
    private static readonly IReadOnlyList<DeliveryClass> Final = [DeliveryClass.Duplicated, DeliveryClass.DuplicatedOutgoing];

    /// <summary>Whether a message to which this is promised may lack effects for ever. If not, they are waited for.</summary>
    public static bool MayLackEffects(IEnumerable<DeliveryClass> promised) => promised.Any(WithoutAllEffects.Contains);

    /// <summary>The verdict on an experiment that did not meet its point. It can show that a promise is broken, and never that it is kept.</summary>
    /// <inheritdoc cref="Of" path="/param"/>
    public static FaultVerdict OfNotMet(string? unsettled, bool isBroken, IEnumerable<DeliveryClass> notPromised) =>
        Of(unsettled, isBroken, notPromised) is FaultVerdict.Broken ? FaultVerdict.Broken : FaultVerdict.Void;

    /// <summary>
    /// If the subject did not come to rest, what is missing can still come, and nothing is shown. What is there twice stays, so that promise is broken.
    /// </summary>
    /// <param name="unsettled">That it did not come to rest, as a text; <see langword="null"/> if it did.</param>
    /// <param name="isBroken">Whether anything was found that is not promised.</param>
    /// <param name="notPromised">The classes of messages to which these were not promised.</param>
    public static FaultVerdict Of(string? unsettled, bool isBroken, IEnumerable<DeliveryClass> notPromised) => (isBroken, unsettled) switch
    {
        (true, null) => FaultVerdict.Broken,
        (false, null) => FaultVerdict.Kept,
        (_, not null) => notPromised.Any(Final.Contains) ? FaultVerdict.Broken : FaultVerdict.Void,
    };
}
