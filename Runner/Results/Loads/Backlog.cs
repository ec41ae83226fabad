namespace Kit.Runner.Results.Loads;

/// <summary>The backlog of a load: messages whose moment had come and whose row was not committed.</summary>
/// <remarks>
/// The middles of the two quarters are half the load apart. A median over a quarter does not see a pause of the server that is made good within an eighth
/// of the load, which a look at one moment can hit.
/// </remarks>
public sealed record Backlog(double SecondQuarter, double LastQuarter)
{
    /// <summary>It grows if the endpoint leaves more than this share of the messages behind that came in half the load.</summary>
    public const double Growing = 0.02;

    /// <summary>It does not grow by so many messages: with one message a second, one more or less is under way at any moment.</summary>
    public const int LeastGrowth = 1;

    private const int Looks = 101;

    /// <param name="due">Time at which each message was to be sent, in ms from the start; in any order.</param>
    /// <param name="committed">Commit times of the rows that have one; in any order.</param>
    public static Backlog Of(IEnumerable<double> due, IEnumerable<double> committed, double milliseconds)
    {
        var (came, went) = (due.Order().ToArray(), committed.Order().ToArray());
        return new Backlog(MedianFrom(0.25), MedianFrom(0.75));

        double MedianFrom(double share)
        {
            var looks = Enumerable.Range(0, Looks)
                .Select(look => milliseconds * (share + (0.25 * look / (Looks - 1))))
                .Select(moment => CountUntil(came, moment) - CountUntil(went, moment));
            return looks.Order().ElementAt(Looks / 2);
        }
    }

    /// <summary>True if the endpoint does not keep up with a rate.</summary>
    public bool IsGrowing(double perSecond, double seconds) => LastQuarter - SecondQuarter > Math.Max(LeastGrowth, Growing * perSecond * seconds / 2);

    private static int CountUntil(double[] sorted, double moment)
    {
        var (low, high) = (0, sorted.Length);
        while (low < high)
        {
            var middle = (low + high) / 2;
            if (sorted[middle] <= moment)
                low = middle + 1;
            else
                high = middle;
        }

        return low;
    }
}
