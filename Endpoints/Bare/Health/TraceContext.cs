using System.Diagnostics;

namespace Kit.Endpoints.Bare.Health;

/// <summary>A trace context in the headers of a message, as the process's propagator writes it: W3C's <c>traceparent</c>.</summary>
internal static class TraceContext
{
    /// <summary>The headers, with the context of the current activity if there is one.</summary>
    public static IReadOnlyDictionary<string, string> Inject(IReadOnlyDictionary<string, string> headers)
    {
        if (Activity.Current is not { } current)
            return headers;

        var all = new Dictionary<string, string>(headers, StringComparer.Ordinal);
        DistributedContextPropagator.Current.Inject(current, all, static (into, name, value) => ((Dictionary<string, string>)into!)[name] = value);
        return all;
    }

    /// <returns>An empty context if the sender had no trace.</returns>
    public static ActivityContext Extract(IReadOnlyDictionary<string, string> headers)
    {
        DistributedContextPropagator.Current.ExtractTraceIdAndState(headers, Get, out var parent, out var state);
        return ActivityContext.TryParse(parent, state, isRemote: true, out var context) ? context : default;
    }

    private static void Get(object? headers, string name, out string? value, out IEnumerable<string>? values)
    {
        values = null;
        value = ((IReadOnlyDictionary<string, string>)headers!).GetValueOrDefault(name);
    }
}
