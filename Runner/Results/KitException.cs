namespace Kit.Runner.Results;

/// <summary>A problem that the user can fix: what was expected and found, and the remedy. Shown without a stack trace.</summary>
/// <param name="message">One line: what was expected and what was found. Never a secret.</param>
/// <param name="cause">Shown with <c>--verbose</c>.</param>
public sealed class KitException(string message, string remedy, Exception? cause = null) : Exception(message, cause)
{
    public string Remedy { get; } = remedy;

    /// <summary>A failure in one line, with the remedy if there is one.</summary>
    public static string TextOf(Exception failure)
    {
        ArgumentNullException.ThrowIfNull(failure);
        return failure is KitException { Remedy: var remedy } ? $"{failure.Message} {remedy}" : failure.Message;
    }

    /// <summary>True if the command line is wrong, on any machine.</summary>
    public bool IsUsage { get; init; }
}
