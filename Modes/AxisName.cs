namespace Kit.Modes;

/// <summary>The axes that reports know, as options, documents and tables name them. The kit's matrix has more.</summary>
internal static class AxisName
{
    public const string Framework = "framework";

    public const string Transport = "transport";

    public const string Mode = "mode";

    public const string Access = "access";

    public const string Flush = "flush";

    public const string Batch = "batch";

    public const string Scenario = "scenario";

    public const string RoundTrip = "rtt";

    public const string Size = "size";

    public const string Processes = "processes";

    public const string Handlers = "handlers";

    public const string Pool = "pool";

    public const string DeadLetter = "dead-letter";

    public const string Polling = "polling";

    /// <summary>A service of a user, which is no cell of the matrix.</summary>
    public const string Service = "service";

    /// <summary>What a framework offers and the bare driver does not: a bare cell names none of them.</summary>
    public static IReadOnlyList<string> OfFrameworks { get; } = [DeadLetter, Polling];
}
