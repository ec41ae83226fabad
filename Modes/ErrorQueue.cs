namespace Kit.Modes;

/// <summary>The queue for messages that an endpoint gave up. It has the same name on every transport.</summary>
public static class ErrorQueue
{
    private const string Suffix = "_error";

    /// <param name="queue">The endpoint's queue.</param>
    public static string Of(string queue) => queue + Suffix;
}
