using System.Globalization;
using Kit.Endpoints.Cells;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Stage;

/// <summary>The work of an experiment's handler for each message.</summary>
/// <param name="Inserts">Rows. The experiments' own handler has 1 or more.</param>
/// <param name="Sends">Messages, all to one queue and with one id.</param>
/// <param name="ThrowsAtFirst">True if it throws at a process's first attempt at each message, after the inserts and before the sends.</param>
internal sealed record HandlerShape(int Inserts, int Sends, bool ThrowsAtFirst)
{
    /// <summary>Queues that have subscribed to the event that it publishes instead of its sends; 0: it sends.</summary>
    public int Subscribers { get; init; }

    /// <summary>Journal lines of an attempt without a fault.</summary>
    public int LinesPerAttempt { get; init; } = ExperimentHandler.LinesPerAttempt;

    /// <summary>Queues in which a sent or published message arrives.</summary>
    public int Deliveries => Math.Max(1, Subscribers);

    /// <summary>The shape of the experiments' own handler.</summary>
    public static HandlerShape OfExperiments { get; } = new(ExperimentHandler.RowsPerAttempt, Sends: 1, ThrowsAtFirst: false);

    /// <summary>The shape of a cell's handler: the scenario's, or the experiments' own.</summary>
    /// <param name="own">The shape of the experiments' own handler; <see langword="null"/>: the default.</param>
    public static HandlerShape Of(Cell cell, HandlerShape? own = null) => ScenarioUnderFaults.Of(cell) is { } scenario
        ? new(scenario.Rows, scenario.IsPublisher ? 0 : scenario.Deliveries, ThrowsAtFirst: false)
        {
            Subscribers = scenario.IsPublisher ? scenario.Deliveries : 0,
            LinesPerAttempt = ScenarioHandler.LinesPerAttempt,
        }
        : own ?? OfExperiments;

    /// <summary>Messages that arrive for each attempt: one for each send, or for each subscriber.</summary>
    public int Arrivals => Subscribers > 0 ? Subscribers : Math.Max(1, Sends);

    /// <summary>
    /// Arrived sends. Those of an attempt have one id, and nothing tells them apart: the first that arrived for a message counts as its first send, and so
    /// on. One that is missing shows, and one that is too many.
    /// </summary>
    /// <param name="arrived">The id of the message that caused each.</param>
    public IEnumerable<SinkRow> SendsOf(IEnumerable<Guid> arrived) =>
        from caused in arrived.GroupBy(id => id)
        from send in caused.Index()
        select new SinkRow(send.Item, send.Item) { Queue = send.Index % Arrivals };

    /// <summary>The shape in tokens: <c>2i1st</c> inserts twice, sends once, and throws at first.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Inserts}i{Sends}s{(ThrowsAtFirst ? "t" : "")}");
}
