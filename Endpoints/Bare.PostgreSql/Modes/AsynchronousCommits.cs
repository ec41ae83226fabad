namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>Which of an endpoint's connections commit without waiting for the log.</summary>
/// <param name="OfReceives">The sessions that receive.</param>
/// <param name="OfHandlers">The connections that handlers are lent, and the outbox's own.</param>
internal readonly record struct AsynchronousCommits(bool OfReceives, bool OfHandlers);
