using System.Data.Common;

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
    /// A failure in one line. A database driver's has its causes with it: it says that it could not read, and only the cause says that the server did not
    /// answer in time.
    /// </summary>
    public static string MessageOf(Exception failure)
    {
        var text = failure.Message;
        for (var cause = failure is DbException ? failure.InnerException : null; cause is not null; cause = cause.InnerException)
        {
            if (!text.Contains(cause.Message, StringComparison.Ordinal))
                text = $"{text.TrimEnd('.')}: {cause.Message}";
        }

        return text;
    }

    /// <summary>True if the command line is wrong, on any machine.</summary>
    public bool IsUsage { get; init; }
}
