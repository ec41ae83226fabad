using Kit.Runner.Operations;

namespace Kit.Runner.Transports;

/// <summary>Opens the dead letters of a queue on the user's server.</summary>
/// <param name="Description">What the transport's option names then, for the help.</param>
/// <param name="Open">Opens them, from what was typed and the queue's name.</param>
internal sealed record ExistingQueue(string Description, Func<string, string, DeadLetters> Open)
{
    /// <summary>What is missing in what was typed, after the option's name; <see langword="null"/>: nothing.</summary>
    public Func<string, string?> WhyNot { get; init; } = _ => null;
}
