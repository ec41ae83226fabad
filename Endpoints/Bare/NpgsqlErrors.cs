using System.Net.Sockets;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>The errors of Npgsql, by the codes of https://www.postgresql.org/docs/current/errcodes-appendix.html.</summary>
internal sealed class NpgsqlErrors : DriverErrors
{
    // Insufficient resources: 53200 when max_prepared_transactions is used up, 53100 when the disk is full.
    private const string InsufficientResources = "53";

    /// <summary>
    /// Whether the server lacked a resource that it will have again. The handler's own SQL, a trigger for example, can raise the same error.
    /// </summary>
    public static bool IsShortage(PostgresException failure) => failure.SqlState.StartsWith(InsufficientResources, StringComparison.Ordinal);

    /// <summary>
    /// Whether the cause may be what other transactions hold or wrote: a deadlock, a serialization failure, a lock that was not granted, or a statement
    /// that waited too long. Handlers wrap exceptions, so inner exceptions count too.
    /// </summary>
    public static bool IsConflict(Exception failure) => Failure.Chain(failure).Any(
        one => IsLate(one) || one is PostgresException { SqlState: PostgresErrorCodes.DeadlockDetected or PostgresErrorCodes.SerializationFailure });

    /// <summary>
    /// The server ended the session with an error of severity FATAL or PANIC (25P03 idle in transaction for too long, 57P01 terminated, 57P02 crash), or the
    /// network broke.
    /// </summary>
    public override bool IsSessionLost(Exception failure) => failure is PostgresException { InvariantSeverity: "FATAL" or "PANIC" }
        or NpgsqlException { InnerException: IOException or SocketException };

    public override bool IsTimeout(Exception failure) => IsLate(failure);

    private static bool IsLate(Exception failure) => failure is NpgsqlException late
        && (late.InnerException is TimeoutException || late.SqlState is PostgresErrorCodes.LockNotAvailable or PostgresErrorCodes.QueryCanceled);
}
