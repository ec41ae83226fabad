using System.Data;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

/// <summary>What the sessions of one endpoint do.</summary>
/// <param name="Isolation">The isolation level of their transactions.</param>
/// <param name="WithTransactionId">Whether a receive also reads the id of its transaction.</param>
/// <param name="ReceivesAhead">Whether a commit also receives.</param>
/// <param name="Own">What their own statements need after a handler that was lent the session.</param>
/// <param name="IsLent">Whether handlers are lent the session's connection.</param>
internal sealed record QueueSessionSettings(
    IsolationLevel Isolation, bool WithTransactionId, bool ReceivesAhead, OwnSession Own, bool IsLent = false);
