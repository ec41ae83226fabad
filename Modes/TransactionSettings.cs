using System.Transactions;

namespace Kit.Modes;

/// <summary>What the transactions of one endpoint are opened with.</summary>
public sealed record TransactionSettings
{
    /// <param name="mode">Names the isolation level.</param>
    /// <param name="timeout">How long a transaction may last that is ambient around a handler.</param>
    /// <exception cref="ArgumentOutOfRangeException">See <see cref="TransactionTimeout.Require"/>.</exception>
    public TransactionSettings(TransactionMode mode, TimeSpan timeout)
    {
        ArgumentNullException.ThrowIfNull(mode);
        Isolation = mode.Isolation;
        Timeout = TransactionTimeout.Require(timeout);
    }

    /// <summary>Of local transactions.</summary>
    public System.Data.IsolationLevel Isolation { get; }

    public TimeSpan Timeout { get; }

    /// <summary><see cref="Isolation"/>, in the words of System.Transactions.</summary>
    public IsolationLevel ScopeIsolation => Isolation switch
    {
        System.Data.IsolationLevel.ReadCommitted => IsolationLevel.ReadCommitted,
        System.Data.IsolationLevel.RepeatableRead => IsolationLevel.RepeatableRead,
        System.Data.IsolationLevel.Serializable => IsolationLevel.Serializable,
        var other => throw new NotSupportedException($"No mode of the kit uses {other}. Expected: read committed, repeatable read or serializable."),
    };

    /// <summary>For a <c>TransactionScope</c>, which .NET keeps as it is.</summary>
    public TransactionOptions Options => new() { IsolationLevel = ScopeIsolation, Timeout = Timeout };

    /// <summary>The same with the longest time-out that the process allows.</summary>
    internal TransactionOptions LongestOptions => new() { IsolationLevel = ScopeIsolation, Timeout = TransactionManager.MaximumTimeout };
}
