using Kit.Endpoints.Cells;

namespace Kit.Tests.Contract;

/// <summary>The cells that the contract holds for: every framework, transport and mode, with the baseline's access.</summary>
internal static class ContractCells
{
    public static IEnumerable<TestFixtureData> All =>
        Cell.All.Where(cell => cell.Access.Name == "ado").Select(cell => new TestFixtureData(cell).SetArgDisplayNames(cell.Name));
}
