using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Stage;

/// <summary>The specification of an experiment's handler, in addition to the <see cref="HandlerSpec"/>. The addresses bypass every proxy.</summary>
/// <param name="Journal">Path of the <see cref="AttemptJournal"/>.</param>
/// <param name="Sink">The queue that the handler sends to.</param>
/// <param name="Transport">Connection string of the transport.</param>
/// <param name="Widgets">Connection string of the widgets' database.</param>
/// <param name="Chosen">The message that meets the fault.</param>
/// <param name="Script">The handler's acts at the chosen message.</param>
internal sealed record ExperimentSpec(
    string Journal, string Sink, string Transport, string Widgets, Guid Chosen, HandlerScript Script)
{
    /// <summary>The handler's work for each message.</summary>
    public HandlerShape Shape { get; init; } = HandlerShape.OfExperiments;

    /// <summary>A queue that the runner creates late.</summary>
    public static string LateSinkOf(string sink) => $"{sink}-late";

    /// <summary>The file that tells an attempt that its connection was cut.</summary>
    public static string CutMark(string journal, Guid attempt) => $"{journal}.{attempt:N}.cut";

    /// <summary>The file that releases every attempt that waits for the runner.</summary>
    public static string GoOnMark(string journal) => $"{journal}.go-on";
}
