namespace Kit.Guarantees;

/// <summary>Where a handler's rows are, as seen from its queue.</summary>
public enum RowsPlace
{
    /// <summary>In the queue's own database.</summary>
    SameDatabase,

    /// <summary>In another database of the queue's server.</summary>
    SameServer,

    /// <summary>On another server of the queue's kind.</summary>
    AnotherServer,

    /// <summary>In a database of another kind than the queue's; the queue may be on a broker.</summary>
    Elsewhere,
}

/// <summary>What may happen to a message after a crash.</summary>
public enum Tolerance
{
    /// <summary>Its rows must be there once.</summary>
    Once,

    /// <summary>The handler is idempotent: a message may be handled twice. None of its work may stay half done.</summary>
    Twice,

    /// <summary>The handler is idempotent and has one statement, so that nothing can be half done.</summary>
    TwiceInOneStatement,

    /// <summary>It may be lost.</summary>
    Loss,
}

/// <summary>What a team must know about a handler to choose its mode.</summary>
/// <param name="Rows">Where its rows are.</param>
/// <param name="Tolerance">What may happen to a message after a crash.</param>
/// <param name="SeesRows">Whether a worker's next message must see the rows of its last one.</param>
public sealed record HandlerNeeds(RowsPlace Rows, Tolerance Tolerance, bool SeesRows);
