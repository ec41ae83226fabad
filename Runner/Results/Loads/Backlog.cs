using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Loads;

/// <summary>The backlog of a load: messages whose moment had come and whose row was not committed.</summary>
/// <remarks>
/// A median over a quarter does not see a pause of the server that is made good within an eighth of the load, which a look at one moment can hit.
/// </remarks>
public sealed record Backlog(double SecondQuarter, double LastQuarter)
{
    /// <summary>The endpoint does not keep up if more than this share of the load's messages is left.</summary>
    public const double Most = 0.01;

    /// <summary>So many messages may be left of every load: with one message a second, one is under way at any moment.</summary>
    public const int MostOfAll = 1;

    private const int Looks = 101;

    /// <summary>
    /// Messages that are under way at any moment if each takes the median latency of the first quarter, at the rate that was reached after that time: those
    /// of a slow or polling endpoint that keeps up (Little's law).
    /// Absent in documents of builds that did not tell.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public double UnderWay { get; init; }

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

    /// <summary>True if more messages wait than an endpoint leaves that keeps up.</summary>
    /// <param name="messages">Those without an effect at a moment.</param>
    /// <param name="all">The messages of the load.</param>
    public bool IsTooLarge(double messages, double all) => messages - UnderWay > Math.Max(MostOfAll, Most * all);

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
