namespace Kit.Endpoints.Bare.Outbox;

/// <summary>A queue did not take a message, and its connection is open.</summary>
/// <param name="Reason">Why.</param>
/// <param name="IsOfTheQueue">Whether it would refuse every other message at the moment: it is missing, full or closed to the sender.</param>
internal sealed record Refusal(string Reason, bool IsOfTheQueue);
