namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The owner of a prepared transaction, read from its global id.</summary>
public enum BranchOwner
{
    /// <summary>A branch of an endpoint in full-dtc whose queue is on this server. Recovery ends it according to its decision.</summary>
    ThisServer,

    /// <summary>
    /// A branch of an endpoint whose queue, and so the decision, is on another server (a restored or moved database, or full-dtc on two servers), or in a table
    /// of the queue's database, which is not read (full-dtc with participants).
    /// </summary>
    AnotherServer,

    /// <summary>It belongs to another application, or to the driver.</summary>
    Foreign,
}

/// <summary>The outcome of the transaction that received the message, and so of the branch.</summary>
public enum BranchDecision
{
    Committed,
    Aborted,

    /// <summary>The transaction is still running.</summary>
    Undecided,

    /// <summary>This server no longer knows the transaction, or never did.</summary>
    Unknown,
}

/// <summary>A prepared transaction on a PostgreSQL server. It holds its locks until it is ended.</summary>
/// <param name="GlobalId">Its global id.</param>
/// <param name="Database">The database that it is in. It can be ended only there.</param>
/// <param name="Role">
/// The role that prepared it. Only that role or a superuser can end it. <see langword="null"/> if the role was dropped, which PostgreSQL allows.
/// </param>
/// <param name="Prepared">When it was prepared, by the server's clock.</param>
/// <param name="Age">How long ago that was, by the server's clock.</param>
/// <param name="Owner">Who owns it.</param>
/// <param name="QueueDatabase">
/// The queue's database, for a branch of this server; <see langword="null"/> for other owners, or if the database was dropped.
/// </param>
/// <param name="Decision">Its decision; <see cref="BranchDecision.Unknown"/> for other owners than this server.</param>
/// <param name="LockedTables">
/// The names of the tables that it has locked, or their oids if its database could not be read.
/// </param>
public sealed record PreparedTransaction(
    string GlobalId,
    string Database,
    string? Role,
    DateTimeOffset Prepared,
    TimeSpan Age,
    BranchOwner Owner,
    string? QueueDatabase,
    BranchDecision Decision,
    IReadOnlyList<string> LockedTables);
