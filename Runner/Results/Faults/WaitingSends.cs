using Kit.Guarantees;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Results.Faults;

/// <summary>
/// Rows without their send, where that cannot be dispatched: an outbox promises that it waits there, and that the message does not go to the error queue.
/// </summary>
public static class WaitingSends
{
    /// <param name="met">The messages whose sends cannot be dispatched.</param>
    /// <param name="waiting">The sends in the outbox.</param>
    /// <param name="limits">Known reasons.</param>
    public static IReadOnlyList<Violation> ViolationsOf(IEnumerable<MessageVerdict> met, long waiting, IReadOnlyList<KnownLimit> limits)
    {
        var withoutSend = met.Where(verdict => verdict.Is(DeliveryClass.Zombie)).ToLookup(verdict => verdict.Flags.HasFlag(VerdictFlags.InErrorQueue));
        return
        [
            .. withoutSend[true].Select(verdict => Violation(verdict, "with its rows and in the error queue")),
            .. withoutSend[false].OrderBy(verdict => verdict.MessageId).Skip((int)waiting)
                .Select(verdict => Violation(verdict, "with its rows, and its send is not in the outbox")),
        ];

        Violation Violation(MessageVerdict verdict, string what) => new(
            verdict.MessageId, $"message {verdict.MessageId} is a {Words.Of(DeliveryClass.Zombie)} {what}; allowed: its send waits in the outbox", verdict.Evidence)
        {
            Known = limits.FirstOrDefault(limit => limit.Explains([DeliveryClass.Zombie], verdict.Flags.HasFlag(VerdictFlags.InErrorQueue)))?.Reason,
        };
    }
}
