using System.Net.Sockets;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>The errors of Npgsql, by the codes of https://www.postgresql.org/docs/current/errcodes-appendix.html.</summary>
internal sealed class NpgsqlErrors : DriverErrors
{
    // Insufficient resources: 53200 when max_prepared_transactions is used up, 53100 when the disk is full.
    private const string InsufficientResources = "53";

    // What PL/pgSQL's RAISE is called in the server's sources: with any code, the handler's own SQL has failed.
    private const string Raise = "exec_stmt_raise";

    // What the server says about itself. Not among them, because the same message would meet it again however long it waits:
    // 53400 (a handler's temporary files exceed temp_file_limit), 57014 (a statement's time-out, or a cancellation), 58P01 and 58P02 (a file of COPY, or a
    // damaged table), F0… (a handler's ALTER SYSTEM; the server itself does not start with one), XX… (a damaged row or index, or the server's own fault).
    // Nor those of a session that the server has ended, which may be the handler's doing and are counted as a lost session: 25P03, 25P04, 57P01, 57P02,
    // 57P04 and 57P05. 25006 is asked about: IsReadOnly. All other codes of class 25 say that the handler misused its transaction.
    private static readonly string[] StatesOfServer =
    [
        PostgresErrorCodes.InsufficientResources, // 53000: it has no file handle left, for example
        PostgresErrorCodes.DiskFull,
        PostgresErrorCodes.OutOfMemory, // also its table of locks, which a single handler can fill: the message waits, and others pass it
        PostgresErrorCodes.TooManyConnections, // for a connection that the handler opens itself
        PostgresErrorCodes.CannotConnectNow, // 57P03, the same while it starts or shuts down
        PostgresErrorCodes.IoError, // 58030: its disk fails
    ];

    /// <summary>
    /// Whether the server lacked a resource that it will have again. The handler's own SQL, a trigger for example, can raise the same error.
    /// </summary>
    public static bool IsShortage(PostgresException failure) => failure.SqlState.StartsWith(InsufficientResources, StringComparison.Ordinal);

    /// <summary>
    /// Whether a transaction was read-only. Either its server is (a standby, or a disk so full that its provider has set
    /// <c>default_transaction_read_only</c>), or the handler has made it so: <see cref="ReadOnlyServer"/> asks.
    /// </summary>
    public static bool IsReadOnly(Exception failure) => Failure.Chain(failure).Any(
        one => one is PostgresException { SqlState: PostgresErrorCodes.ReadOnlySqlTransaction, Routine: not Raise });

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

    public override bool IsStateOfServer(Exception failure) =>
        failure is PostgresException { Routine: not Raise } told && StatesOfServer.Contains(told.SqlState, StringComparer.Ordinal);

    public override bool IsTimeout(Exception failure) => IsLate(failure);

    private static bool IsLate(Exception failure) => failure is NpgsqlException late
        && (late.InnerException is TimeoutException || late.SqlState is PostgresErrorCodes.LockNotAvailable or PostgresErrorCodes.QueryCanceled);
}
