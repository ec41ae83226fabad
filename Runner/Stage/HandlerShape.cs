using System.Globalization;
using Kit.Endpoints.Cells;

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

    /// <summary>
    /// Arrived messages, counted as if an attempt sent at most one: all sends of an attempt together count as one, and a part of them as none. After a whole
    /// one, a part is one too many.
    /// </summary>
    /// <param name="arrived">The id of the message that caused each.</param>
    public IEnumerable<Guid> InWholeSends(IEnumerable<Guid> arrived) => Sends <= 1
        ? arrived
        : arrived.CountBy(id => id).SelectMany(one => Enumerable.Repeat(one.Key, one.Value < Sends ? 0 : (one.Value + Sends - 1) / Sends));

    /// <summary>The shape in tokens: <c>2i1st</c> inserts twice, sends once, and throws at first.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Inserts}i{Sends}s{(ThrowsAtFirst ? "t" : "")}");
}
