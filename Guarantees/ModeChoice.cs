using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>The rules for choosing a mode, as <c>docs/tutorials/choose-a-mode.md</c> shows them: the first mode that fits and can run.</summary>
public static class ModeChoice
{
    /// <summary>The modes that can give a handler what it needs, the best first. A transport may refuse one for such a handler.</summary>
    /// <param name="needs">What the handler needs.</param>
    public static IReadOnlyList<TransactionMode> Of(HandlerNeeds needs)
    {
        ArgumentNullException.ThrowIfNull(needs);
        return [.. InOneUnit(needs), .. WithoutOneUnit(needs.Tolerance)];
    }

    /// <summary>The classes in which a mode may leave a message after kills and cuts, and which a handler with these needs can bear.</summary>
    /// <param name="tolerance">What may happen to a message.</param>
    /// <exception cref="ArgumentOutOfRangeException">There is no such tolerance.</exception>
    public static IReadOnlySet<DeliveryClass> Bearable(Tolerance tolerance) => tolerance switch
    {
        Tolerance.Once => new HashSet<DeliveryClass> { DeliveryClass.Once, DeliveryClass.DuplicatedOutgoing },
        Tolerance.Twice => new HashSet<DeliveryClass> { DeliveryClass.Once, DeliveryClass.DuplicatedOutgoing, DeliveryClass.Duplicated },
        // Only a handler with several statements can leave its work torn.
        Tolerance.TwiceInOneStatement => new HashSet<DeliveryClass>
        {
            DeliveryClass.Once, DeliveryClass.DuplicatedOutgoing, DeliveryClass.Duplicated, DeliveryClass.Torn,
        },
        // No mode may leave work outstanding, or do what nobody can explain.
        Tolerance.Loss => Enum.GetValues<DeliveryClass>().Except([DeliveryClass.Unexpected, DeliveryClass.InDoubt, DeliveryClass.Stuck]).ToHashSet(),
        _ => throw Unknown(tolerance),
    };

    private static IEnumerable<TransactionMode> InOneUnit(HandlerNeeds needs) => needs.Rows switch
    {
        RowsPlace.SameDatabase => [TransactionMode.Shared, .. InTwoPhases(needs)],
        RowsPlace.SameServer or RowsPlace.AnotherServer => InTwoPhases(needs),
        RowsPlace.Elsewhere => [],
        _ => throw new ArgumentOutOfRangeException(nameof(needs), needs.Rows, "There is no such place."),
    };

    // Whether the rows of full-dtc are visible at once depends on the transport.
    private static IEnumerable<TransactionMode> InTwoPhases(HandlerNeeds needs) => needs.SeesRows
        ? [TransactionMode.FullDtcWaiting, TransactionMode.FullDtc, TransactionMode.FullDtcPromoted]
        : [TransactionMode.FullDtc, TransactionMode.FullDtcPromoted];

    private static IEnumerable<TransactionMode> WithoutOneUnit(Tolerance tolerance) => tolerance switch
    {
        Tolerance.Once => [TransactionMode.Outbox],
        Tolerance.Twice => [TransactionMode.DtcOff, TransactionMode.Outbox],
        Tolerance.TwiceInOneStatement => [TransactionMode.ScopeOff, TransactionMode.DtcOff, TransactionMode.Outbox],
        Tolerance.Loss => [TransactionMode.TransactionsOff, TransactionMode.ScopeOff, TransactionMode.DtcOff, TransactionMode.Outbox],
        _ => throw Unknown(tolerance),
    };

    private static ArgumentOutOfRangeException Unknown(Tolerance tolerance) => new(nameof(tolerance), tolerance, "There is no such tolerance.");
}
