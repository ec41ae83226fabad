using System.Globalization;
using System.Text;
using System.Transactions;

namespace Kit.Endpoints.Bare;

/// <summary>Describes a failed attempt.</summary>
internal static class Failure
{
    // RabbitMQ ends the connection when a message's headers do not fit into one frame, which is 128 KiB.
    private const int Longest = 8_000;

    /// <summary>The reason why a scope could not commit, which its exception wraps.</summary>
    public static Exception ReasonOf(Exception failure) =>
        failure is TransactionException { InnerException: { } inner } ? inner : failure;

    /// <summary>A text that every queue can store with the message. If the text could not be stored, the message would be retried for ever.</summary>
    public static string Describe(Exception reason)
    {
        // Only the innermost message says what to do.
        var text = string.Join(" ---> ", Chain(reason).Select(each => $"{each.GetType().FullName}: {each.Message}")).Replace('\0', ' ');
        if (text.Length > Longest)
            text = $"{text[..Longest]} (cut off)";

        // The driver refuses half of a surrogate pair, which a cut text can end with.
        return Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(text));
    }

    /// <summary>The same text with a <c>\u</c> escape for each UTF-16 unit that an encoding lacks.</summary>
    /// <param name="text">The text.</param>
    /// <param name="last">The last character of Unicode that the encoding has.</param>
    public static string Escaped(string text, char last) => string.Concat(
        text.Select(each => each <= last ? each.ToString() : string.Create(CultureInfo.InvariantCulture, $"\\u{(int)each:X4}")));

    /// <summary>The exception, and all that it wraps: handlers and libraries wrap the database's error.</summary>
    public static IEnumerable<Exception> Chain(Exception failure)
    {
        for (var each = failure; each is not null; each = each.InnerException)
            yield return each;
    }
}
