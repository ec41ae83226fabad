using Kit.Guarantees;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Points;

/// <summary>The outcome for the message of an experiment at a point.</summary>
/// <typeparam name="TAccount">The knowledge about the subject's messages.</typeparam>
/// <param name="Because">The reason why it shows nothing about the point; <see langword="null"/> if it does.</param>
internal sealed record PointOutcome<TAccount>(string? Because)
    where TAccount : class
{
    /// <summary>True if the point was met. If not, see <see cref="IsKilledElsewhere"/> and <see cref="IsWithoutFault"/>.</summary>
    public bool IsMet { get; init; }

    /// <summary>True if the point was not met, and the process was killed at another moment, or ended by itself. The proxy had stopped its traffic.</summary>
    public bool IsKilledElsewhere { get; init; }

    /// <summary>True if nothing was cut, killed or withheld.</summary>
    public bool IsWithoutFault => !IsMet && !IsKilledElsewhere;

    /// <summary>A text that says that its subject did not come to rest; <see langword="null"/> if it did.</summary>
    public string? Unsettled { get => IsMet ? Because : field; init; }

    /// <summary>True if messages did not come to rest though no fault of the kit disturbed them.</summary>
    public bool IsUnsettledWithoutFault => IsWithoutFault && Unsettled is not null;

    /// <summary>The reasons why each try before this one does not count.</summary>
    public IReadOnlyList<string> Discarded { get; init; } = [];

    /// <summary>Events at the point, or in its place.</summary>
    public IReadOnlyList<PointEvent> Events { get; init; } = [];

    /// <summary>True if a process ended although nothing was cut, killed or withheld.</summary>
    public bool HasOwnEnd => IsWithoutFault && Events.Any(one => one.IsEnd);

    /// <summary>The message that met the point.</summary>
    public Guid Chosen { get; init; }

    /// <summary>
    /// The last messages that were sent when nothing moved any more, to see that the process handles all of them. None if the way kills the process, or the
    /// messages before them did not settle.
    /// </summary>
    public IReadOnlyList<Guid> Late { get; init; } = [];

    /// <summary>True if work is left, so that the next message needs another subject. A process that was alive was then not started again.</summary>
    public bool LeavesWork { get; init; }

    /// <summary>
    /// In way d, the time that the process had waited for the answer when it was killed, in seconds; <see langword="null"/>: it did not wait until then.
    /// </summary>
    public double? KilledAfterSeconds { get; init; }

    /// <summary>The messages that were sent when the process had lived on, and had then been killed and started again.</summary>
    public IReadOnlyList<Guid> AfterRestart { get; init; } = [];

    /// <summary>
    /// The account of the message that met the point and of those sent after it. If the point was not met: of the message that should have met it, or of
    /// those before it; <see langword="null"/> if the experiment itself failed.
    /// </summary>
    public TAccount? Account { get; init; }

    /// <summary>The requests that passed until the point was met, with the one at the point last.</summary>
    public IReadOnlyList<SeenRequest> Requests { get; init; } = [];

    /// <summary>True if the experiment itself failed.</summary>
    public bool HasFailed { get; init; }

    /// <summary>True if it failed after the point was met. The reason can be the subject's: another try could hide it.</summary>
    public bool HasFailedAfterwards { get; init; }

    /// <summary>Duration of all tries together.</summary>
    public double Seconds { get; init; }

    /// <summary>The promise to a message.</summary>
    /// <param name="chosen">The promise to the message that met the point.</param>
    /// <param name="ordinary">The promise to messages that were sent at once after it.</param>
    /// <param name="late">The promise to messages that were sent when nothing moved any more.</param>
    /// <param name="undisturbed">The promise if there was no fault.</param>
    public IReadOnlySet<DeliveryClass> PromisedTo(
        Guid message, IReadOnlySet<DeliveryClass> chosen, IReadOnlySet<DeliveryClass> ordinary, IReadOnlySet<DeliveryClass> late,
        IReadOnlySet<DeliveryClass> undisturbed) =>
        IsWithoutFault ? undisturbed
        : IsKilledElsewhere || message == Chosen ? chosen
        : Late.Contains(message) || AfterRestart.Contains(message) ? late
        : ordinary;
}

/// <summary>An event in an experiment at a point.</summary>
/// <param name="IsEnd">True for the end of a process, which was started again after it.</param>
internal sealed record PointEvent(PointPhase Phase, string Text, bool IsEnd = false);

/// <summary>A part of an experiment at a point.</summary>
internal enum PointPhase
{
    /// <summary>Until the point is met.</summary>
    Before,

    /// <summary>From the point on, while ordinary messages are handled.</summary>
    Met,

    /// <summary>When nothing moves any more, and others are sent.</summary>
    Late,

    /// <summary>After the last kill.</summary>
    AfterRestart,
}
