namespace Kit.Runner.Results.Accounts;

/// <summary>The conclusion from trials that did not show an event.</summary>
/// <remarks>
/// Hanley and Lippman-Hand, "If nothing goes wrong, is everything all right? Interpreting zero numerators", Journal of the American
/// Medical Association 249 (1983), 1743–1745: with a probability p, n trials show nothing with (1 − p)^n, which is below 5 % from about p = 3/n.
/// </remarks>
public static class RuleOfThree
{
    /// <summary>
    /// The upper end of the 95 % confidence interval of a probability, from 0 to 1, if no trial showed it: 3/n, and never above 1.
    /// </summary>
    /// <param name="trials">Independent chances to see it, such as the messages in flight at each kill.</param>
    /// <exception cref="ArgumentOutOfRangeException">No trials, so no conclusion.</exception>
    public static double UpperBound(int trials)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(trials, 1);
        return Math.Min(1, 3.0 / trials);
    }
}
