using System.Net.Sockets;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>What kind of failure it is, which decides what happens to the message.</summary>
internal enum FailureKind
{
    /// <summary>
    /// The server refused before the handler had done anything there, or had no free prepared transaction. No attempt is counted; the worker
    /// pauses.
    /// </summary>
    Refused,

    /// <summary>The queue's or the handler's session was lost while the message was handled. The attempt counts; the next one is delayed.</summary>
    SessionLost,

    /// <summary>The handler itself failed. The attempt counts; the next one follows at once.</summary>
    HandlerFailed,

    /// <summary>No attempt could ever succeed. The message goes to the error queue.</summary>
    Hopeless,
}

/// <summary>Decides what kind of failure an exception is. No other place does.</summary>
internal static class FailureKinds
{
    // Insufficient resources: 53200 when max_prepared_transactions is used up, 53100 when the disk is full.
    private const string InsufficientResources = "53";

    public static FailureKind Of(Exception failure) => Failure.ReasonOf(failure) switch
    {
        ServerRefusedException => FailureKind.Refused,
        UnreadableMessageException or SecondEnlistmentException or TransactionEndedException or NotPreparableException => FailureKind.Hopeless,
        var reason when IsSessionLost(reason) => FailureKind.SessionLost,
        _ => FailureKind.HandlerFailed,
    };

    /// <summary>
    /// Whether the server lacked a resource that it will have again. The handler's own SQL, a trigger for example, can raise the same error.
    /// </summary>
    public static bool IsShortage(PostgresException failure) => failure.SqlState.StartsWith(InsufficientResources, StringComparison.Ordinal);

    /// <summary>
    /// Whether the cause may be what other transactions hold or wrote: a deadlock, a serialization failure, a lock that was not granted, or a statement
    /// that waited too long. Handlers wrap exceptions, so inner exceptions count too.
    /// </summary>
    public static bool IsConflict(Exception? failure) => failure switch
    {
        null => false,
        PostgresException { SqlState: PostgresErrorCodes.DeadlockDetected or PostgresErrorCodes.SerializationFailure } => true,
        _ => IsTimeout(failure) || IsConflict(failure.InnerException),
    };

    /// <summary>Whether a statement waited for longer than a time-out of the driver or of the server allows.</summary>
    public static bool IsTimeout(Exception failure) => failure is NpgsqlException late
        && (late.InnerException is TimeoutException || late.SqlState is PostgresErrorCodes.LockNotAvailable or PostgresErrorCodes.QueryCanceled);

    /// <summary>
    /// Whether a session is gone. The server ended it with an error of severity FATAL or PANIC (25P03 idle in transaction for too long, 57P01
    /// terminated, 57P02 crash), or the network broke. Handlers wrap exceptions, so inner exceptions count too.
    /// </summary>
    private static bool IsSessionLost(Exception? failure) => failure switch
    {
        null => false,
        PostgresException { InvariantSeverity: "FATAL" or "PANIC" } => true,
        NpgsqlException { InnerException: IOException or SocketException } => true,
        _ => IsSessionLost(failure.InnerException),
    };
}
