using Kit.Endpoints.Cells;
using Kit.Modes;
using NUnit.Framework.Internal;

namespace Kit.Tests.Contract;

/// <summary>
/// The cells that the contract holds for: every framework, transport and mode that can run here, with the baseline's access, and each way to
/// dead-letter and to poll. What is missing is said once (<see cref="WhatIsMissing"/>); what never can run stands in the approved list of cells.
/// </summary>
internal static class ContractCells
{
    public static IEnumerable<TestFixtureData> All => Of(_ => true, always: cell => !cell.PollsOften);

    /// <summary>
    /// The same, of which one cell for each framework on each transport and one for each mode run always: for what an endpoint does outside its
    /// transactions, or what every mode does with the code that the situations of <see cref="All"/> meet.
    /// </summary>
    public static IEnumerable<TestFixtureData> Few
    {
        get
        {
            var (kinds, modes) = (new HashSet<IEndpointKind>(), new HashSet<TransactionMode>());
            // The bare endpoint on PostgreSQL has every mode, and comes last. Of two cells that differ in how often they poll, the slow one waits for seconds.
            var few = Here(_ => true)
                .Where(cell => !IsOnDemand(cell))
                .Reverse()
                .GroupBy(cell => cell.Kind)
                .SelectMany(cells => cells.OrderByDescending(cell => cell.PollsOften))
                .Where(cell => kinds.Add(cell.Kind) | modes.Add(cell.Mode))
                .ToHashSet();
            return Of(_ => true, few.Contains);
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

    // On two servers, every mode but those of two-phase commit is the code of one server.
    private static bool IsOnDemand(Cell cell) => cell.Kind is BareOnPostgreSqlApart && cell.Mode != TransactionMode.FullDtc;

    private static TestFixtureData Exhaustive(TestFixtureData data)
    {
        data.Properties.Add(PropertyNames.Category, ExhaustiveAttribute.Category);
        return data;
    }
}
