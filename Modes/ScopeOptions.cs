using System.Transactions;

namespace Kit.Modes;

/// <summary>What every <c>TransactionScope</c> of the kit is opened with.</summary>
public static class ScopeOptions
{
    /// <summary><see cref="TransactionMode.Isolation"/>, in the words of System.Transactions.</summary>
    public static IsolationLevel Isolation { get; } = Enum.Parse<IsolationLevel>(TransactionMode.Isolation.ToString());

    /// <summary>The kit's isolation level, and a time-out that .NET keeps as it is.</summary>
    /// <exception cref="ArgumentOutOfRangeException">See <see cref="TransactionTimeout.Require"/>.</exception>
    public static TransactionOptions Of(TimeSpan timeout) => new() { IsolationLevel = Isolation, Timeout = TransactionTimeout.Require(timeout) };

    /// <summary>The kit's isolation level, and the longest time-out that the process allows.</summary>
    internal static TransactionOptions Longest => new() { IsolationLevel = Isolation, Timeout = TransactionManager.MaximumTimeout };
}
