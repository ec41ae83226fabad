namespace Kit.Runner.Results;

/// <summary>A problem that the user can fix: what was expected and found, and the remedy. Shown without a stack trace.</summary>
/// <param name="message">One line: what was expected and what was found. Never a secret.</param>
/// <param name="cause">Shown with <c>--verbose</c>.</param>
public sealed class KitException(string message, string remedy, Exception? cause = null) : Exception(message, cause)
{
    public string Remedy { get; } = remedy;

    /// <summary>A failure in one line, with the remedy if there is one.</summary>
    public static string TextOf(Exception failure) =>
        failure is KitException { Remedy: var remedy } ? $"{failure.Message} {remedy}" : MessageOf(failure);

    /// <summary>
    /// A failure in one line. One that is not the kit's has its causes with it: a driver says that it could not read, and only the cause says that the
    /// server did not answer in time.
    /// </summary>
    public static string MessageOf(Exception failure)
    {
        ArgumentNullException.ThrowIfNull(failure);
        return failure is not KitException && failure.InnerException is { } cause && !failure.Message.Contains(cause.Message, StringComparison.Ordinal)
            ? $"{failure.Message.TrimEnd('.')}: {MessageOf(cause)}"
            : failure.Message;
    }

    /// <summary>True if the command line is wrong, on any machine.</summary>
    public bool IsUsage { get; init; }
}
