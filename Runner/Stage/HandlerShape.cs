using System.Globalization;
using Kit.Endpoints.Cells;

namespace Kit.Runner.Stage;

/// <summary>How much the handler of an experiment does with each message.</summary>
/// <param name="Inserts">Its rows. The experiments' own handler has 1 or more.</param>
/// <param name="Sends">Its messages, all to one queue and with one id.</param>
/// <param name="ThrowsAtFirst">Whether it throws at a process's first attempt at each message, after the inserts and before the sends.</param>
internal sealed record HandlerShape(int Inserts, int Sends, bool ThrowsAtFirst)
{
    /// <summary>How many queues have subscribed to the event that it publishes instead of its sends; 0: it sends.</summary>
    public int Subscribers { get; init; }

    /// <summary>Journal lines of an attempt without a fault.</summary>
    public int LinesPerAttempt { get; init; } = ExperimentHandler.LinesPerAttempt;

    /// <summary>How many queues what it sends or publishes for each message arrives in.</summary>
    public int Deliveries => Math.Max(1, Subscribers);

    /// <summary>What the experiments' own handler does.</summary>
    public static HandlerShape OfExperiments { get; } = new(ExperimentHandler.RowsPerAttempt, Sends: 1, ThrowsAtFirst: false);

    /// <summary>What the handler of a cell does: that of its scenario, or the experiments' own.</summary>
    /// <param name="cell">The cell.</param>
    /// <param name="own">What the experiments' own handler does; <see langword="null"/>: what it does by default.</param>
    public static HandlerShape Of(Cell cell, HandlerShape? own = null) => ScenarioUnderFaults.Of(cell) is { } scenario
        ? new(scenario.Rows, scenario.IsPublisher ? 0 : scenario.Deliveries, ThrowsAtFirst: false)
        {
            Subscribers = scenario.IsPublisher ? scenario.Deliveries : 0,
            LinesPerAttempt = ScenarioHandler.LinesPerAttempt,
        }
        : own ?? OfExperiments;

    /// <summary>
    /// Arrived messages, counted as if an attempt sent at most one: all its sends together count as one, and a part of them as none. After a whole one, a part
    /// is one too many.
    /// </summary>
    /// <param name="arrived">The id of the message that caused each.</param>
    public IEnumerable<Guid> InWholeSends(IEnumerable<Guid> arrived) => Sends <= 1
        ? arrived
        : arrived.CountBy(id => id).SelectMany(one => Enumerable.Repeat(one.Key, one.Value < Sends ? 0 : (one.Value + Sends - 1) / Sends));

    /// <summary>As tokens name it: <c>2i1st</c> inserts twice, sends once, and throws at first.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Inserts}i{Sends}s{(ThrowsAtFirst ? "t" : "")}");
}
