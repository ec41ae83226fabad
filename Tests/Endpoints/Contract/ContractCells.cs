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
    public static IEnumerable<TestFixtureData> All => Of(_ => true);

    /// <summary>The wanted ones among them, of which some run always and the others only with the exhaustive tests.</summary>
    public static IEnumerable<TestFixtureData> Of(Predicate<Cell> wanted, Predicate<Cell> always) =>
        Of(wanted).Select(data => data.Arguments is [Cell cell] && !always(cell) ? Exhaustive(data) : data);

    /// <summary>The wanted ones among them. Where none can run there is one ignored fixture: NUnit refuses a source without any.</summary>
    public static IEnumerable<TestFixtureData> Of(Predicate<Cell> wanted)
    {
        var named = Cell.All
            .Where(cell => cell with { DeadLettersNext = false, PollsOften = false } is { Access.Name: "ado", IsPlain: true } && wanted(cell))
            .ToList();
        var here = named.Where(cell => cell.Support.IsSupported && TestTransport.MissingServer(cell.Kind.Transport) is null).ToList();
        return here.Count > 0
            ? here.Select(Fixture)
            : [new TestFixtureData(named[0]).SetArgDisplayNames("none").Ignore("None of its cells can run here.")];
    }

    // On two servers, every mode but those of two-phase commit is the code of one server.
    private static TestFixtureData Fixture(Cell cell)
    {
        var data = new TestFixtureData(cell).SetArgDisplayNames(cell.Name);
        return cell.Kind is BareOnPostgreSqlApart && cell.Mode != TransactionMode.FullDtc ? Exhaustive(data) : data;
    }

    private static TestFixtureData Exhaustive(TestFixtureData data)
    {
        data.Properties.Add(PropertyNames.Category, ExhaustiveAttribute.Category);
        return data;
    }
}
