using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Proofs;

/// <summary>The number of times that an effect of a message was found.</summary>
/// <param name="Effect">Name in the proof file.</param>
/// <param name="PerMessage">Number of times that it exists if the message was handled once; <see cref="NeverThere"/> for a dead letter.</param>
public sealed record FoundEffect(string Effect, int Count, int PerMessage)
{
    /// <summary>Number of times that a dead letter exists if the message was handled once.</summary>
    public const int NeverThere = 0;

    /// <summary>True if it exists only after the application has given the message up.</summary>
    [JsonIgnore]
    public bool IsDeadLetter => PerMessage == NeverThere;

    public override string ToString() =>
        IsDeadLetter ? FormattableString.Invariant($"{Effect}: {Count}") : FormattableString.Invariant($"{Effect}: {Count} of {PerMessage}");
}
