namespace Kit.Runner.Transports;

/// <summary>Something that a user says of a transport: which server, where a part of it is, how queues are kept.</summary>
/// <param name="Option">On the command line.</param>
/// <param name="Description">For the help.</param>
/// <param name="HelpName">What is expected after the option.</param>
internal sealed record TransportSetting(string Option, string Description, string HelpName)
{
    /// <summary>The environment variable that says it where the option is not typed; <see langword="null"/> where there is none.</summary>
    public string? Variable { get; init; }

    /// <summary>The names to choose from, whatever their case; none where any text may be typed, which can hold a secret.</summary>
    public IReadOnlyList<string> Names { get; init; } = [];

    /// <summary>Why a text is none of the names, after the option's name; <see langword="null"/> where it is one of them.</summary>
    public string? WhyNot(string text) =>
        Names.Contains(text, StringComparer.OrdinalIgnoreCase) ? null : $"unknown name '{text}'. Names: {string.Join(", ", Names)}.";

    /// <summary>What the environment says; <see langword="null"/> where it says nothing.</summary>
    public string? FromEnvironment() =>
        Variable is not null && Environment.GetEnvironmentVariable(Variable) is { Length: > 0 } named ? named : null;
}
