namespace Kit.Modes;

/// <summary>What commits when, as it can be seen from outside while one message is handled.</summary>
/// <param name="HasAmbientTransaction">Whether the handler runs in an ambient transaction.</param>
/// <param name="IsRowVisibleInHandler">Whether others see the handler's row while the handler still runs.</param>
/// <param name="IsMessageLeftInHandler">Whether the message still belongs to the queue while the handler runs: received and not yet committed or acknowledged.</param>
/// <param name="IsMessageLeftAfterScope">The same when the ambient transaction has just ended; <see langword="null"/> without one.</param>
public sealed record CommitOrder(bool HasAmbientTransaction, bool IsRowVisibleInHandler, bool IsMessageLeftInHandler, bool? IsMessageLeftAfterScope)
{
    /// <summary>What a mode's label says.</summary>
    public static CommitOrder Of(TransactionMode mode)
    {
        if (mode == TransactionMode.DtcOff)
            return new(HasAmbientTransaction: true, IsRowVisibleInHandler: false, IsMessageLeftInHandler: true, IsMessageLeftAfterScope: true);
        if (mode == TransactionMode.ScopeOff)
            return new(HasAmbientTransaction: false, IsRowVisibleInHandler: true, IsMessageLeftInHandler: true, IsMessageLeftAfterScope: null);
        if (mode == TransactionMode.TransactionsOff)
            return new(HasAmbientTransaction: false, IsRowVisibleInHandler: true, IsMessageLeftInHandler: false, IsMessageLeftAfterScope: null);

        return new(HasAmbientTransaction: true, IsRowVisibleInHandler: false, IsMessageLeftInHandler: true, IsMessageLeftAfterScope: false);
    }
}
