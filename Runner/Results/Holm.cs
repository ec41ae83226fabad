namespace Kit.Runner.Results;

/// <summary>
/// Judges several tests together, so that the probability of one false verdict among all of them stays below alpha: Holm, A Simple
/// Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6 (1979), 65–70. The tests may depend on each other in any way;
/// cells that share a reference do.
/// </summary>
public static class Holm
{
    /// <summary>
    /// The level at which each test is judged: alpha / m for the one with the smallest p-value of m, alpha / (m − 1) for the next, and so on
    /// up to the first that fails; those after it have the same level, and fail.
    /// </summary>
    /// <param name="probabilities">p-values, in any order.</param>
    /// <param name="alpha">0 to 1.</param>
    /// <returns>The levels, in the order of the p-values.</returns>
    public static IReadOnlyList<double> LevelsOf(IReadOnlyList<double> probabilities, double alpha)
    {
        var levels = new double[probabilities.Count];
        var left = probabilities.Count;
        var isFailed = false;
        foreach (var test in Enumerable.Range(0, probabilities.Count).OrderBy(test => probabilities[test]))
        {
            levels[test] = alpha / left;
            isFailed |= probabilities[test] > levels[test];
            if (!isFailed)
                left--;
        }

        return levels;
    }
}
