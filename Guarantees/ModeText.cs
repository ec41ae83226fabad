using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>What the modes are, in words for a user.</summary>
public static class ModeText
{
    public static void Write(IEnumerable<TransactionMode> modes, TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(modes);
        ArgumentNullException.ThrowIfNull(output);
        foreach (var mode in modes)
        {
            output.WriteLine(mode.Name);
            foreach (var (what, text) in Lines(mode))
                output.WriteLine($"  {what,-14}{text}");

            output.WriteLine();
        }
    }

    private static IEnumerable<(string What, string Text)> Lines(TransactionMode mode) =>
    [
        ("receive", mode.Receive),
        ("insert", mode.Insert),
        ("sends", mode.Sends),
        ("on a throw", mode.OnThrow),
        ("retries", $"{mode.ImmediateRetries}"),
        ("isolation", mode.IsolationInWords),
        ("promise", mode.Promise),
    ];
}
