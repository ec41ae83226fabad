using Kit.Runner.Stage.Operations;

namespace Kit.Runner.Stage.Transports;

/// <summary>Opens the dead letters of a queue on the user's server.</summary>
/// <param name="Description">Description of the transport's option in that case, for the help.</param>
/// <param name="Open">Opens them, given the typed text and the queue's name.</param>
internal sealed record ExistingQueue(string Description, Func<string, string, DeadLetters> Open)
{
    /// <summary>The text to follow the option's name if something is missing in the typed text; <see langword="null"/>: nothing is.</summary>
    public Func<string, string?> WhyNot { get; init; } = _ => null;
}
