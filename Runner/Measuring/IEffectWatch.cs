namespace Kit.Runner.Measuring;

/// <summary>Tells when the effect of a message exists: its row is committed, or, where a handler inserts none, its sent message has arrived.</summary>
internal interface IEffectWatch
{
    /// <summary>Ends when the effect of a message exists, or after some time without one.</summary>
    /// <param name="message">Not yet sent.</param>
    Task WaitAsync(Guid message, TimeSpan patience, CancellationToken cancellationToken);
}
