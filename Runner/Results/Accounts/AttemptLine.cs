using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Accounts;

/// <summary>The points that an attempt to handle a message reaches, in order.</summary>
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

    /// <summary>The handler has passed its message to the endpoint, which sends it immediately or later.</summary>
    AfterSend,

    /// <summary>The handler has returned.</summary>
    Returned,

    /// <summary>The attempt has met the fault for which its message was chosen, at any of the other points.</summary>
    Faulted,
}

/// <summary>A server session that an attempt uses.</summary>
/// <param name="ProcessId">The server's process (<c>NpgsqlConnection.ProcessID</c>). Pooled sessions serve many attempts.</param>
/// <param name="TransactionId">
/// Its transaction (<c>pg_current_xact_id()::xid</c>), which serves only one attempt; <see langword="null"/> if it was not read.
/// </param>
public sealed record Backend(int ProcessId, uint? TransactionId = null);

/// <summary>A line of the <see cref="AttemptJournal"/>: one attempt has reached one point.</summary>
/// <param name="AttemptId">New each time the handler is entered.</param>
/// <param name="Backends">The sessions that the attempt uses, as far as known at this point.</param>
/// <param name="Note">The fault that the attempt met, if any.</param>
public sealed record AttemptLine(Guid MessageId, Guid AttemptId, AttemptPoint Point, IReadOnlyList<Backend> Backends, string? Note = null)
{
    /// <summary>Time of the write, by the machine's clock; absent in journals without times.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public DateTimeOffset? At { get; init; }
}
