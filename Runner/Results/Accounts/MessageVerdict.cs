using Kit.Guarantees;

namespace Kit.Runner.Results.Accounts;

/// <summary>What is worth knowing of a message as well as its class.</summary>
[Flags]
public enum VerdictFlags
{
    None = 0,

    /// <summary>It lies in the error queue.</summary>
    InErrorQueue = 1,

    /// <summary>An attempt left some of its rows and not all.</summary>
    HalfDone = 1 << 1,

    /// <summary>A branch of it is prepared.</summary>
    Prepared = 1 << 2,

    /// <summary>It lies in its queue where a receive could take it: with nobody attempting it, it waits.</summary>
    Receivable = 1 << 3,

    /// <summary>It lies in its queue where no receive can take it, and is still counted.</summary>
    Unreceivable = 1 << 4,

    /// <summary>An outgoing message arrived twice with the same id, which its receiver can discard.</summary>
    SameOutgoingId = 1 << 5,

    /// <summary>Its producer never heard that it was sent.</summary>
    SendUnknown = 1 << 6,
}

/// <summary>What became of one message.</summary>
/// <param name="Class">Its one class.</param>
/// <param name="Also">Classes further down whose rules hold of it too: a message with two rows and nothing sent is duplicated, and a zombie also.</param>
/// <param name="ExcessRows">Rows beyond those of one attempt.</param>
/// <param name="Evidence">What was found of it, a line each.</param>
public sealed record MessageVerdict(
    Guid MessageId, DeliveryClass Class, IReadOnlyList<DeliveryClass> Also, VerdictFlags Flags, int ExcessRows, IReadOnlyList<string> Evidence)
{
    /// <summary>Whether it is of the class, alone or among others.</summary>
    public bool Is(DeliveryClass deliveryClass) => Class == deliveryClass || Also.Contains(deliveryClass);
}
