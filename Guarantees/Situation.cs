namespace Kit.Guarantees;

/// <summary>What happens while one message is handled. The handler inserts a row and then sends a message.</summary>
public enum Situation
{
    HandlerSucceeds,

    /// <summary>The first attempt throws before it does anything.</summary>
    ThrowsOnceBeforeInsert,

    /// <summary>The first attempt throws between insert and send.</summary>
    ThrowsOnceAfterInsert,

    /// <summary>The first attempt throws after it has inserted and sent.</summary>
    ThrowsOnceAfterSend,

    /// <summary>Every attempt throws after it has inserted.</summary>
    AlwaysThrowsAfterInsert,

    /// <summary>No attempt throws, and a deferred constraint refuses the commit of each.</summary>
    CommitIsAlwaysRefused,

    /// <summary>The body is not a message.</summary>
    Unreadable,

    /// <summary>The endpoint has no handler for the type of the message.</summary>
    OfUnknownType,
}
