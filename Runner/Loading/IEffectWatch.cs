namespace Kit.Runner.Loading;

/// <summary>Tells when the effect of a message is there: its row is committed, or, where a handler inserts none, what it sent has arrived.</summary>
internal interface IEffectWatch
{
    /// <summary>Ends when the effect of a message is there, or after some time without one.</summary>
    /// <param name="message">The message, not yet sent.</param>
    /// <param name="patience">How long to wait.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    Task WaitAsync(Guid message, TimeSpan patience, CancellationToken cancellationToken);
}
