using System.Text.Json.Serialization;
using Kit.Guarantees;

namespace Kit.Runner.Results.Accounts;

/// <summary>Facts about a message besides its class.</summary>
[Flags]
public enum VerdictFlags
{
    None = 0,

    /// <summary>It is in the error queue.</summary>
    InErrorQueue = 1,

    /// <summary>An attempt left some of its rows, but not all.</summary>
    HalfDone = 1 << 1,

    /// <summary>A branch of it is prepared.</summary>
    Prepared = 1 << 2,

    /// <summary>It is in its queue and can be received: it waits.</summary>
    Receivable = 1 << 3,

    /// <summary>It is in its queue and counted, but cannot be received.</summary>
    Unreceivable = 1 << 4,

    /// <summary>An outgoing message arrived twice with the same id, which its receiver can discard.</summary>
    SameOutgoingId = 1 << 5,

    /// <summary>Its producer got no answer to the send.</summary>
    SendUnknown = 1 << 6,
}

/// <summary>The outcome of one message.</summary>
/// <param name="Also">Later classes whose rules also hold: a message with two rows and nothing sent is duplicated, and also a zombie.</param>
/// <param name="ExcessRows">Rows beyond those of one attempt.</param>
/// <param name="Evidence">One finding a line.</param>
public sealed record MessageVerdict(
    Guid MessageId, DeliveryClass Class, IReadOnlyList<DeliveryClass> Also, VerdictFlags Flags, int ExcessRows, IReadOnlyList<string> Evidence)
{
    /// <summary>True if it is in the class, alone or among others.</summary>
    public bool Is(DeliveryClass deliveryClass) => Class == deliveryClass || Also.Contains(deliveryClass);

    /// <summary>All its classes, the one that counts it first.</summary>
    [JsonIgnore]
    public IReadOnlyList<DeliveryClass> Classes => [Class, .. Also];

    /// <summary>Its classes that are not among the promised ones.</summary>
    public IEnumerable<DeliveryClass> Beyond(IReadOnlySet<DeliveryClass> promised) => Classes.Where(kind => !promised.Contains(kind));
}

/// <summary>Something found that a mode does not allow under a fault.</summary>
/// <param name="MessageId"><see langword="null"/> for a prepared transaction that cannot be assigned to a message.</param>
/// <param name="Because">The finding and the allowed classes, in one line.</param>
/// <param name="Evidence">One finding a line.</param>
public sealed record Violation(Guid? MessageId, string Because, IReadOnlyList<string> Evidence)
{
    /// <summary>The reason of the <see cref="Guarantees.KnownLimit"/> that explains all of it; <see langword="null"/> if none does.</summary>
    [JsonInclude]
    public string? Known { get; init; }

    /// <summary>The message's classes that are not allowed, as <see cref="Because"/> names them before its semicolon.</summary>
    [JsonIgnore]
    public IEnumerable<DeliveryClass> Classes
    {
        get
        {
            var words = Because.Split(';')[0].Split(' ');
            return Enum.GetValues<DeliveryClass>().Where(kind => words.Contains(Words.Of(kind)));
        }
    }
}
