namespace Kit.Runner.Choosing;

/// <summary>An answer to a question.</summary>
/// <param name="Name">As it is typed.</param>
/// <param name="Meaning">What it means, as a sentence without its full stop.</param>
/// <param name="Value">What it stands for.</param>
internal sealed record Answer<T>(string Name, string Meaning, T Value);
