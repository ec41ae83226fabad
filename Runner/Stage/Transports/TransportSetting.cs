namespace Kit.Runner.Stage.Transports;

/// <summary>Something that a user sets for a transport: its server, a part of that, the queue type.</summary>
/// <param name="Description">For the help.</param>
/// <param name="HelpName">The name of the value, after the option.</param>
internal sealed record TransportSetting(string Option, string Description, string HelpName)
{
    /// <summary>The environment variable for it if the option is not typed; <see langword="null"/> if there is none.</summary>
    public string? Variable { get; init; }

    /// <summary>The names to choose from, in any case; empty if any text is allowed, which can contain a secret.</summary>
    public IReadOnlyList<string> Names { get; init; } = [];

    /// <summary>The reason why a text is refused, to follow the option's name; <see langword="null"/> if it is one of the names.</summary>
    public string? WhyNot(string text) =>
        Names.Contains(text, StringComparer.OrdinalIgnoreCase) ? null : $"unknown name '{text}'. Names: {string.Join(", ", Names)}.";

    /// <summary>The value from the environment; <see langword="null"/> if there is none.</summary>
    public string? FromEnvironment() =>
        Variable is not null && Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } named ? named : null;
}
