namespace Kit.Guarantees;

/// <summary>What happens to one message whose handler inserts a row and then sends a message.</summary>
public enum Situation
{
    HandlerSucceeds,

    /// <summary>The first attempt throws before it has done anything.</summary>
    ThrowsOnceBeforeInsert,

    /// <summary>The first attempt throws between insert and send.</summary>
    ThrowsOnceAfterInsert,

    /// <summary>The first attempt throws when it has inserted and sent.</summary>
    ThrowsOnceAfterSend,

    /// <summary>Every attempt throws when it has inserted.</summary>
    AlwaysThrowsAfterInsert,

    /// <summary>The body is not a message.</summary>
    Unreadable,
}
