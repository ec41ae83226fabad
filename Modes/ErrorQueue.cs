namespace Kit.Modes;

/// <summary>Where an endpoint's messages go that were given up, the same on every transport.</summary>
public static class ErrorQueue
{
    private const string Suffix = "_error";

    /// <param name="queue">The endpoint's queue.</param>
    public static string Of(string queue) => queue + Suffix;
}
