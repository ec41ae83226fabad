using System.Data.Common;
using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Stage;

/// <summary>An attempt of the experiments' handler, as the acts of its script find it and change it.</summary>
/// <param name="itself">The attempt in the journal.</param>
/// <param name="spec">The handler's.</param>
/// <param name="sink">The queue that the handler sends to, past its endpoint.</param>
/// <param name="attempts">Counts the process's attempts at the message.</param>
internal sealed class ScriptedAttempt(Attempt itself, ExperimentSpec spec, BuildWidget message, IMessageQueue sink, Func<int> attempts)
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(5);

    public Attempt Itself => itself;

    public ExperimentSpec Spec => spec;

    public BuildWidget Message => message;

    public IMessageQueue Sink => sink;

    /// <summary>The process's attempts at the message until now, this one among them.</summary>
    public int Attempts => attempts();

    /// <summary>The handler's connection, from its first insert on.</summary>
    public DbConnection Connection
    {
        get => field ?? throw new InvalidOperationException("Expected an act after the handler's first insert: before it there is no connection.");
        set;
    }

    /// <summary>The id of its first row.</summary>
    public long FirstRow { get; set; }

    /// <summary>True if an act has done the inserts that follow the first.</summary>
    public bool HasInserted { get; set; }

    /// <summary>The queue that it sends to.</summary>
    public string Destination { get; set; } = spec.Sink;

    /// <summary>The message that it sends.</summary>
    public WidgetBuilt Outgoing { get; set; } = new(message.MessageId);

    /// <summary>Notes that the fault is there.</summary>
    public void Fault(string what) => itself.Note(AttemptPoint.Faulted, what);

    /// <summary>The exception of an act that throws, after a note.</summary>
    public InvalidOperationException Intended(string what)
    {
        Fault(what);
        return new InvalidOperationException($"The experiment's handler {what}.");
    }

    /// <summary>Waits until the runner lets this attempt go on, or all.</summary>
    public async Task WaitForRunnerAsync(string what)
    {
        Fault(what);
        while (!File.Exists(ExperimentSpec.CutMark(spec.Journal, itself.Id)) && !File.Exists(ExperimentSpec.GoOnMark(spec.Journal)))
            await Task.Delay(Pause, CancellationToken.None);
    }
}
