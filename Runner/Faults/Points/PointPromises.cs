using Kit.Guarantees;

namespace Kit.Runner.Faults.Points;

/// <summary>The promises to the messages of a subject, as far as its experiments depend on them.</summary>
/// <typeparam name="TAccount">The knowledge about the subject's messages.</typeparam>
/// <param name="ToMet">The promise to the message that meets a point. If the promise allows it to lack effects, nobody waits for the message.</param>
/// <param name="WhyDisturbed">The mistake in messages that nothing disturbed, as the end of a sentence; <see langword="null"/>: none.</param>
/// <param name="IsWorkLeft">True if one of them was still to be handled: on a busy machine that can take longer than anybody waited.</param>
internal sealed record PointPromises<TAccount>(IReadOnlySet<DeliveryClass> ToMet, Func<TAccount, string?> WhyDisturbed, Func<TAccount, bool> IsWorkLeft)
    where TAccount : class;
