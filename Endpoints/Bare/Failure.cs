using System.Text;
using System.Transactions;

namespace Kit.Endpoints.Bare;

/// <summary>What is told of a failed attempt.</summary>
internal static class Failure
{
    // RabbitMQ ends the connection when a message's headers do not fit into one frame, which is 128 KiB.
    private const int Longest = 8_000;

    /// <summary>A scope that could not commit hides why.</summary>
    public static Exception ReasonOf(Exception failure) =>
        failure is TransactionException { InnerException: { } inner } ? inner : failure;

    /// <summary>A text that every queue can hold with its message: an error that cannot be written down would be tried again without end.</summary>
    public static string Describe(Exception reason)
    {
        // Libraries wrap what the database said, and only the innermost tells what to do.
        var text = string.Join(" ---> ", Chain(reason).Select(each => $"{each.GetType().FullName}: {each.Message}")).Replace('\0', ' ');
        if (text.Length > Longest)
            text = $"{text[..Longest]} (cut off)";

        // Half of a surrogate pair, left by somebody who cut a text, is not text: the driver refuses to write it.
        return Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text));
    }

    private static IEnumerable<Exception> Chain(Exception reason)
    {
        for (var each = reason; each is not null; each = each.InnerException)
            yield return each;
    }
}
