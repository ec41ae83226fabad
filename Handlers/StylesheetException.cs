namespace Kit.Handlers;

/// <summary>A stylesheet does not compile.</summary>
/// <param name="refused">What the engine said.</param>
public sealed class StylesheetException(Exception refused)
    : Exception($"Expected a stylesheet in XSLT 1.0, and the engine cannot compile it: {ReasonOf(refused)} Correct the stylesheet.", refused)
{
    // An engine says where it is in one exception, and what it is in the one within.
    private static string ReasonOf(Exception refused) =>
        refused.InnerException is { } inner && !refused.Message.Contains(inner.Message, StringComparison.Ordinal)
            ? $"{refused.Message} {inner.Message}"
            : refused.Message;
}
