using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Tests.Bare;
using NUnit.Framework.Internal;

namespace Kit.Tests.Contract;

/// <summary>
/// The cells that the contract holds for: every framework, transport and mode that can run here, with the baseline's access, and each way to
/// dead-letter and to poll. What is missing is said once (<see cref="WhatIsMissing"/>); what never can run stands in the approved list of cells.
/// </summary>
internal static class ContractCells
{
    public static IEnumerable<TestFixtureData> All => Of(_ => true);

    /// <summary>
    /// The same, of which some run always, whatever else is installed: the modes of the bare endpoint on PostgreSQL that a <see cref="ModeSourceAttribute"/>
    /// runs always, and on each other kind the last mode that retries, except where the bare endpoint's queues have a server of their own. For what an
    /// endpoint does outside its transactions, or what every mode does with the code that the situations of <see cref="All"/> meet.
    /// </summary>
    public static IEnumerable<TestFixtureData> Few
    {
        get
        {
            var retrying = Here(cell => cell.Kind is not BareOnPostgreSql && cell.Mode.CommitOrder.IsMessageLeftInHandler && !IsOnDemand(cell))
                .GroupBy(cell => cell.Kind)
                .Select(cells => cells.Last())
                .ToHashSet();
            // Bare on RabbitMQ, transactions-off: it alone has its whole backlog, and handles it before it stops.
            return Of(_ => true, always: cell =>
                (cell.Kind.GetType() == typeof(BareOnPostgreSql) && !ModeSourceAttribute.IsOnDemand(cell.Mode))
                || cell is { Kind: BareOnRabbitMq, Mode.CrashEffect: CrashEffect.Loses }
                || retrying.Contains(cell));
        }
    }

    /// <summary>The wanted ones among them, of which some run always and the others only with the exhaustive tests.</summary>
    public static IEnumerable<TestFixtureData> Of(Predicate<Cell> wanted, Predicate<Cell> always) =>
        Of(wanted).Select(data => data.Arguments is [Cell cell] && !always(cell) ? Exhaustive(data) : data);

    /// <summary>The wanted ones among them. Where none can run there is one ignored fixture: NUnit refuses a source without any.</summary>
    public static IEnumerable<TestFixtureData> Of(Predicate<Cell> wanted)
    {
        var here = Here(wanted);
        return here.Count > 0
            ? here.Select(Fixture)
            : [new TestFixtureData(Named(wanted).First()).SetArgDisplayNames("none").Ignore("None of its cells can run here.")];
    }

    private static List<Cell> Here(Predicate<Cell> wanted) =>
        [.. Named(wanted).Where(cell => cell.Support.IsSupported && TestTransport.MissingServer(cell.Kind.Transport) is null)];

    private static IEnumerable<Cell> Named(Predicate<Cell> wanted) => Cell.All
        .Where(cell => cell with { DeadLettersNext = false, PollsOften = false } is { Access.Name: "ado", IsPlain: true } && wanted(cell));

    private static TestFixtureData Fixture(Cell cell)
    {
        var data = new TestFixtureData(cell).SetArgDisplayNames(cell.Name);
        return IsOnDemand(cell) ? Exhaustive(data) : data;
    }

    /// <summary>True if the cell runs the code of a cell on one server: on two, every mode but those of two-phase commit does.</summary>
    public static bool IsAsOnOneServer(Cell cell) => cell.Kind is BareOnPostgreSqlApart && cell.Mode != TransactionMode.FullDtc;

    // Of two paces of polling, the slow one waits for seconds.
    private static bool IsOnDemand(Cell cell) => IsAsOnOneServer(cell) || cell.PollsOften != cell.Kind.CanPollOften;

    private static TestFixtureData Exhaustive(TestFixtureData data)
    {
        data.Properties.Add(PropertyNames.Category, ExhaustiveAttribute.Category);
        return data;
    }
}
