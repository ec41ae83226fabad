namespace Kit.Runner.Faults.Accounts;

/// <summary>How far an attempt to handle a message has come, in the order in which it gets there.</summary>
public enum AttemptPoint
{
    /// <summary>The handler was entered.</summary>
    Started,

    /// <summary>The handler has its connection.</summary>
    BeforeInsert,

    /// <summary>The insert was answered.</summary>
    AfterInsert,

    /// <summary>The handler's scope has ended.</summary>
    AfterScope,

    /// <summary>What the handler sent is handed to the transport.</summary>
    AfterDispatch,

    /// <summary>The receive is acknowledged or committed.</summary>
    Completed,
}

/// <summary>A session of a server that an attempt works with.</summary>
/// <param name="ProcessId">The server's process (<c>NpgsqlConnection.ProcessID</c>). Pooled sessions serve many attempts.</param>
/// <param name="TransactionId">Its transaction (<c>pg_current_xact_id()::xid</c>), which serves one attempt alone; <see langword="null"/> where it was not asked.</param>
public sealed record Backend(int ProcessId, uint? TransactionId = null);

/// <summary>A line of the <see cref="AttemptJournal"/>: one attempt has reached one point.</summary>
/// <param name="AttemptId">New each time the handler is entered.</param>
/// <param name="Backends">The sessions that the attempt works with, as far as it knows them at this point.</param>
public sealed record AttemptLine(Guid MessageId, Guid AttemptId, AttemptPoint Point, IReadOnlyList<Backend> Backends);
