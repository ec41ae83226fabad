using Kit.Modes;

namespace Kit.Endpoints.NServiceBus;

/// <summary>A transport of the kit, which knows its modes and configures their transactions itself.</summary>
public interface ITransactionModeTransport
{
    /// <summary>Whether it was built for the mode.</summary>
    /// <param name="mode">The mode.</param>
    Support Supports(TransactionMode mode);

    /// <summary>Uses these settings for the transactions that it opens. Called before it is initialized.</summary>
    /// <param name="settings">The endpoint's settings.</param>
    void Use(TransactionSettings settings);
}
