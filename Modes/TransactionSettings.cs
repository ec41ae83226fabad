using System.Transactions;

namespace Kit.Modes;

/// <summary>The settings of one endpoint's transactions.</summary>
public sealed record TransactionSettings
{
    /// <param name="mode">Sets the isolation level.</param>
    /// <param name="timeout">How long the ambient transaction around a handler may last.</param>
    /// <exception cref="ArgumentOutOfRangeException">See <see cref="TransactionTimeout.Require"/>.</exception>
    public TransactionSettings(TransactionMode mode, TimeSpan timeout)
    {
        ArgumentNullException.ThrowIfNull(mode);
        Isolation = mode.Isolation;
        Timeout = TransactionTimeout.Require(timeout);
    }

    /// <summary>The isolation level of local transactions.</summary>
    public System.Data.IsolationLevel Isolation { get; }

    public TimeSpan Timeout { get; }

    /// <summary><see cref="Isolation"/> as System.Transactions names it.</summary>
    public IsolationLevel ScopeIsolation => Isolation switch
    {
        System.Data.IsolationLevel.ReadCommitted => IsolationLevel.ReadCommitted,
        System.Data.IsolationLevel.RepeatableRead => IsolationLevel.RepeatableRead,
        System.Data.IsolationLevel.Serializable => IsolationLevel.Serializable,
        var other => throw new NotSupportedException($"No mode of the kit uses {other}. Expected: read committed, repeatable read or serializable."),
    };

    /// <summary>For a <c>TransactionScope</c>; .NET does not shorten this time-out.</summary>
    public TransactionOptions Options => new() { IsolationLevel = ScopeIsolation, Timeout = Timeout };

    /// <summary>The same with the longest time-out that the process allows.</summary>
    internal TransactionOptions LongestOptions => new() { IsolationLevel = ScopeIsolation, Timeout = TransactionManager.MaximumTimeout };
}
