namespace Kit.Prove.Service;

/// <summary>A sent message or a call, as it came to the kit.</summary>
/// <param name="Moment">By this machine's clock, which is also that of the kit's servers.</param>
internal sealed record SeenEffect(string Text, DateTimeOffset Moment);
