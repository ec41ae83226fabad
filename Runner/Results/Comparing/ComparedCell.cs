namespace Kit.Runner.Results.Comparing;

/// <summary>One cell on both sides.</summary>
/// <param name="Before">Its rounds on the first side.</param>
/// <param name="After">Its rounds on the second.</param>
/// <param name="Reference">
/// The cell of the same run with which each side was compared; <see langword="null"/> if the sides were paired by round.
/// </param>
/// <param name="Comparison">After as a multiple of before.</param>
/// <param name="IsRegression">Whether it is slower by more than the threshold.</param>
public sealed record ComparedCell(CellResult Before, CellResult After, CellName? Reference, Comparison Comparison, bool IsRegression)
{
    public CellName Cell => Before.Cell;
}
