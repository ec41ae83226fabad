namespace Kit.Modes;

/// <summary>What commits when, as it can be seen from outside while one message is handled.</summary>
/// <param name="HasAmbientTransaction">Whether the handler runs in an ambient transaction.</param>
/// <param name="IsRowVisibleInHandler">Whether others see the handler's row while the handler still runs.</param>
/// <param name="IsMessageLeftInHandler">
/// Whether the message still belongs to the queue while the handler runs: received and not yet committed or acknowledged.
/// </param>
/// <param name="IsMessageLeftAfterCommit">The same when the handler's transaction, ambient or local, has just ended; <see langword="null"/>
/// where each of its statements commits by itself.</param>
public sealed record CommitOrder(bool HasAmbientTransaction, bool IsRowVisibleInHandler, bool IsMessageLeftInHandler, bool? IsMessageLeftAfterCommit);
