using Kit.Endpoints.Cells;

namespace Kit.Tests.Contract;

/// <summary>
/// The cells that the contract holds for: every framework, transport and mode that can run somewhere, with the baseline's access. What is missing
/// here is ignored with its reason; what never can run stands in the approved list of cells.
/// </summary>
internal static class ContractCells
{
    public static IEnumerable<TestFixtureData> All =>
        Cell.All.Where(cell => cell.Access.Name == "ado" && (cell.Support.IsSupported || cell.Support.IsMissing)).Select(cell => new TestFixtureData(cell).SetArgDisplayNames(cell.Name));
}
