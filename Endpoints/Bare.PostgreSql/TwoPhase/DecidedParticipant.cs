namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>A database of branches.</summary>
/// <param name="Participant">The database.</param>
/// <param name="Decisions">The record of the decisions on its branches.</param>
/// <param name="Sharing">How many databases of the endpoint's branches are on its server, with this one.</param>
internal sealed record DecidedParticipant(Participant Participant, IDecisionLog Decisions, int Sharing);
