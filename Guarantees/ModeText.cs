using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>Describes the modes for the user.</summary>
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

    private static IEnumerable<(string What, string Text)> Lines(TransactionMode mode)
    {
        yield return ("receive", mode.Receive);
        yield return ("insert", mode.Insert);
        yield return ("sends", mode.Sends);
        yield return ("on a throw", mode.OnThrow);
        yield return ("retries", $"{mode.ImmediateRetries}");
        yield return ("isolation", mode.IsolationInWords);
        yield return ("promise", mode.Promise);
        yield return ("use it when", mode.UseWhen);
        if (mode.InNServiceBus is { } settings)
            yield return ("NServiceBus", settings.Replace("`", "", StringComparison.Ordinal));
    }
}
