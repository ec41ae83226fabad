using System.Globalization;

namespace Kit.Runner.Results.Proofs;

/// <summary>How often an effect of a message was there.</summary>
/// <param name="Effect">Its name in the proof file.</param>
/// <param name="Count">How often it was found.</param>
/// <param name="PerMessage">How often it is there if the message was handled once.</param>
public sealed record FoundEffect(string Effect, int Count, int PerMessage)
{
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Effect}: {Count} of {PerMessage}");
}
