using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Accounts;

/// <summary>How far an attempt to handle a message has come, in the order in which it gets there.</summary>
public enum AttemptPoint
{
    /// <summary>The handler was entered.</summary>
    Started,

    /// <summary>The handler has its connection.</summary>
    BeforeInsert,

    /// <summary>The first insert was answered.</summary>
    AfterFirstInsert,

    /// <summary>The second insert was answered.</summary>
    AfterSecondInsert,

    /// <summary>The handler's message is given to the endpoint, which sends it at once or later.</summary>
    AfterSend,

    /// <summary>The handler has returned.</summary>
    Returned,

    /// <summary>The attempt has met the fault that its message was chosen for, wherever it was.</summary>
    Faulted,
}

/// <summary>A session of a server that an attempt works with.</summary>
/// <param name="ProcessId">The server's process (<c>NpgsqlConnection.ProcessID</c>). Pooled sessions serve many attempts.</param>
/// <param name="TransactionId">
/// Its transaction (<c>pg_current_xact_id()::xid</c>), which serves one attempt alone; <see langword="null"/> where it was not asked.
/// </param>
public sealed record Backend(int ProcessId, uint? TransactionId = null);

/// <summary>A line of the <see cref="AttemptJournal"/>: one attempt has reached one point.</summary>
/// <param name="AttemptId">New each time the handler is entered.</param>
/// <param name="Backends">The sessions that the attempt works with, as far as it knows them at this point.</param>
/// <param name="Note">What the attempt met, where it is a fault.</param>
public sealed record AttemptLine(Guid MessageId, Guid AttemptId, AttemptPoint Point, IReadOnlyList<Backend> Backends, string? Note = null)
{
    /// <summary>When it was written, by the machine's clock; absent in journals that note no times.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public DateTimeOffset? At { get; init; }
}
