namespace Kit.Guarantees;

/// <summary>An answer to a question.</summary>
/// <param name="Name">As it is typed.</param>
/// <param name="Meaning">As a sentence without its full stop.</param>
/// <param name="Value">The answer's value for the advice.</param>
public sealed record Answer<T>(string Name, string Meaning, T Value);
