using Kit.Guarantees;

namespace Kit.Runner.Points;

/// <summary>What is promised to the messages of a subject, as far as its experiments depend on it.</summary>
/// <typeparam name="TAccount">What is known about the subject's messages.</typeparam>
/// <param name="ToMet">What is promised to the one that meets a point. If that allows it to lack effects, it is not waited for.</param>
/// <param name="WhyDisturbed">
/// What was wrong with messages that nothing disturbed, as the end of a sentence; <see langword="null"/>: nothing.
/// </param>
/// <param name="IsWorkLeft">Whether one of them was still to be handled: on a busy machine that can take longer than anybody waited.</param>
internal sealed record PointPromises<TAccount>(IReadOnlySet<DeliveryClass> ToMet, Func<TAccount, string?> WhyDisturbed, Func<TAccount, bool> IsWorkLeft)
    where TAccount : class;
