namespace Kit.Runner.Results.Proofs;

/// <summary>How often an effect of a message was there.</summary>
/// <param name="Effect">Its name in the proof file.</param>
/// <param name="Count">How often it was found.</param>
/// <param name="PerMessage">How often it is there if the message was handled once; 0 for a dead letter.</param>
public sealed record FoundEffect(string Effect, int Count, int PerMessage)
{
    public override string ToString() =>
        PerMessage == 0 ? FormattableString.Invariant($"{Effect}: {Count}") : FormattableString.Invariant($"{Effect}: {Count} of {PerMessage}");
}
