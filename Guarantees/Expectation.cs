using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>What must be there when a message has been handled or given up.</summary>
/// <param name="Rows">Rows that its handler inserted.</param>
/// <param name="Sent">Messages that its handler sent.</param>
/// <param name="Errors">How often it is in the error queue.</param>
/// <param name="Attempts">How often its handler was called.</param>
public sealed record Expectation(int Rows, int Sent, int Errors, int Attempts)
{
    /// <summary>What a mode promises in a situation without crashes, on every framework and transport that supports the mode.</summary>
    /// <exception cref="ArgumentOutOfRangeException">There is no such situation.</exception>
    public static Expectation Of(TransactionMode mode, Situation situation)
    {
        // transactions-off does not retry. Without a scope around the handler an insert outlives the throw after it.
        var retries = mode.ImmediateRetries > 0;
        var keepsInserts = mode.RowCommit is RowCommit.EachStatement;
        return situation switch
        {
            Situation.HandlerSucceeds => new(Rows: 1, Sent: 1, Errors: 0, Attempts: 1),
            Situation.ThrowsOnceBeforeInsert when retries => new(Rows: 1, Sent: 1, Errors: 0, Attempts: 2),
            Situation.ThrowsOnceBeforeInsert => new(Rows: 0, Sent: 0, Errors: 1, Attempts: 1),
            Situation.ThrowsOnceAfterInsert when retries => new(Rows: keepsInserts ? 2 : 1, Sent: 1, Errors: 0, Attempts: 2),
            Situation.ThrowsOnceAfterInsert => new(Rows: 1, Sent: 0, Errors: 1, Attempts: 1),
            Situation.ThrowsOnceAfterSend when retries => new(Rows: keepsInserts ? 2 : 1, Sent: 1, Errors: 0, Attempts: 2),
            Situation.ThrowsOnceAfterSend => new(Rows: 1, Sent: 1, Errors: 1, Attempts: 1),
            Situation.AlwaysThrowsAfterInsert => new(Rows: keepsInserts ? mode.Attempts : 0, Sent: 0, Errors: 1, Attempts: mode.Attempts),
            // Where each statement autocommits, the insert is refused.
            Situation.CommitIsAlwaysRefused => new(Rows: 0, Sent: 0, Errors: 1, Attempts: mode.Attempts),
            Situation.Unreadable or Situation.OfUnknownType => new(Rows: 0, Sent: 0, Errors: 1, Attempts: 0),
            _ => throw new ArgumentOutOfRangeException(nameof(situation), situation, message: null),
        };
    }
}
