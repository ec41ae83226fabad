namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Whose a prepared transaction is, as its global id says.</summary>
public enum BranchOwner
{
    /// <summary>A branch of a bare endpoint in full-dtc whose queue is on this server: recovery ends it by its decision.</summary>
    ThisServer,

    /// <summary>Such a branch of a queue on another server (a restored or moved database); the decision is there.</summary>
    AnotherServer,

    /// <summary>Another application's, or the driver's.</summary>
    Foreign,
}

/// <summary>What became of the transaction that received the message, and so of the branch.</summary>
public enum BranchDecision
{
    Committed,
    Aborted,

    /// <summary>That transaction is still running.</summary>
    Undecided,

    /// <summary>This server cannot tell: it no longer knows that transaction, or never did.</summary>
    Unknown,
}

/// <summary>A transaction that lies prepared on a PostgreSQL server, and holds its locks until it is ended.</summary>
/// <param name="GlobalId">Its name.</param>
/// <param name="Database">The database it is in, the only one that can end it.</param>
/// <param name="Role">The role that prepared it; that role or a superuser can end it.</param>
/// <param name="Prepared">When, by the server's clock.</param>
/// <param name="Age">How long ago, by the server's clock.</param>
/// <param name="Owner">Whose it is.</param>
/// <param name="QueueDatabase">
/// The queue's database, of a branch of this server; <see langword="null"/> for other owners and where it was dropped.
/// </param>
/// <param name="Decision">How it is decided; <see cref="BranchDecision.Unknown"/> for other owners than this server.</param>
/// <param name="LockedTables">
/// The tables that it has locked, as its database names them, or their oids where that database could not be asked.
/// </param>
public sealed record PreparedTransaction(
    string GlobalId,
    string Database,
    string Role,
    DateTimeOffset Prepared,
    TimeSpan Age,
    BranchOwner Owner,
    string? QueueDatabase,
    BranchDecision Decision,
    IReadOnlyList<string> LockedTables);
