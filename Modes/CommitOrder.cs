namespace Kit.Modes;

/// <summary>What commits when, as seen from outside while one message is handled.</summary>
/// <param name="HasAmbientTransaction">Whether the handler runs in an ambient transaction.</param>
/// <param name="IsRowVisibleInHandler">Whether others see the handler's row while the handler still runs.</param>
/// <param name="IsMessageLeftInHandler">
/// Whether the message still belongs to the queue while the handler runs: the receive is not yet committed or acknowledged.
/// </param>
/// <param name="IsMessageLeftAfterCommit">
/// The same, just after the handler's ambient or local transaction has ended; <see langword="null"/> if each statement autocommits.
/// </param>
public sealed record CommitOrder(bool HasAmbientTransaction, bool IsRowVisibleInHandler, bool IsMessageLeftInHandler, bool? IsMessageLeftAfterCommit);
