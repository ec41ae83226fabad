using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Proofs;

/// <summary>How often an effect of a message was there.</summary>
/// <param name="Effect">Its name in the proof file.</param>
/// <param name="Count">How often it was found.</param>
/// <param name="PerMessage">How often it is there if the message was handled once; <see cref="NeverThere"/> for a dead letter.</param>
public sealed record FoundEffect(string Effect, int Count, int PerMessage)
{
    /// <summary>How often a dead letter is there if the message was handled once.</summary>
    public const int NeverThere = 0;

    /// <summary>Whether it is there only if the application has given the message up.</summary>
    [JsonIgnore]
    public bool IsDeadLetter => PerMessage == NeverThere;

    public override string ToString() =>
        IsDeadLetter ? FormattableString.Invariant($"{Effect}: {Count}") : FormattableString.Invariant($"{Effect}: {Count} of {PerMessage}");
}
