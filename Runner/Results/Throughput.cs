using System.Globalization;

namespace Kit.Runner.Results;

/// <summary>
/// The arithmetic of a drain, from the moments of its commits. Moments are stored in whole microseconds, the resolution of
/// PostgreSQL's timestamps, so that windows and bins have exact borders.
/// </summary>
public sealed class Throughput
{
    private const long Second = 1_000_000;
    internal const double MicrosecondsPerMillisecond = 1_000;

    /// <summary>
    /// Fewer commits give no reliable rate for a part, because two workers commit almost simultaneously. A batch commits each of its messages.
    /// </summary>
    private const int EnoughCommits = 50;

    private readonly long[] commits;

    /// <param name="offsetsMilliseconds">Milliseconds from the first handler entry to each commit, ascending.</param>
    /// <exception cref="ArgumentException">An offset is negative, not a number, or lower than the previous one.</exception>
    public Throughput(IReadOnlyList<double> offsetsMilliseconds)
    {
        var before = 0d;
        foreach (var offset in offsetsMilliseconds)
        {
            if (!double.IsFinite(offset) || offset < before)
            {
                throw new ArgumentException(
                    string.Create(
                        CultureInfo.InvariantCulture,
                        $"Offsets must be ascending and not negative: {offset} ms follows {before} ms. " +
                        $"A negative offset means that the clocks of server and handler differ."),
                    nameof(offsetsMilliseconds));
            }

            before = offset;
        }

        commits = [.. offsetsMilliseconds.Select(offset => (long)Math.Round(offset * MicrosecondsPerMillisecond))];
    }

    public int Committed => commits.Length;

    /// <summary>The moments of the commits in microseconds after the first handler entry, ascending.</summary>
    public IReadOnlyList<long> Microseconds => commits;

    /// <summary>Seconds from the first handler entry to the last commit; <see langword="null"/> if nothing was committed.</summary>
    public double? ElapsedSeconds => commits.Length == 0 ? null : (double)Elapsed / Second;

    /// <summary>Commits divided by elapsed seconds; <see langword="null"/> if no time passed.</summary>
    public double? AveragePerSecond => Elapsed == 0 ? null : commits.Length / ElapsedSeconds;

    /// <summary>
    /// Commits per second from the first commit in the first tenth of the messages to the last one in it; <see langword="null"/> if a tenth
    /// has too few.
    /// </summary>
    public double? FirstTenthPerSecond => PerSecondBetween(0, 0.1);

    /// <summary>
    /// The rate from a quarter to three quarters of the messages: without the beginning, which may be slower or faster, and without the end, at which fewer
    /// workers are busy.
    /// </summary>
    public double? MiddleHalfPerSecond => PerSecondBetween(0.25, 0.75);

    /// <summary>The rate in the last tenth.</summary>
    public double? LastTenthPerSecond => PerSecondBetween(0.9, 1);

    /// <summary>
    /// The most commits in any window of one second that includes its first moment but not its last, [t, t + 1 s). The window slides: it is
    /// tried at every commit, since a window with the most commits can always be shifted to begin at one.
    /// <see langword="null"/> for a drain shorter than a second, which has no such window.
    /// </summary>
    public int? MaximumInOneSecond
    {
        get
        {
            if (Elapsed < Second)
                return null;

            var highest = 0;
            var first = 0;
            for (var last = 0; last < commits.Length; last++)
            {
                while (commits[last] - commits[first] >= Second)
                    first++;
                highest = Math.Max(highest, last - first + 1);
            }

            return highest;
        }
    }

    /// <summary>
    /// The commits after that of one share of the messages, up to that of another, by the time between the two. A batch commits many at one moment, so they are
    /// counted by their moments.
    /// </summary>
    private double? PerSecondBetween(double from, double to)
    {
        int LastOf(double share) => Math.Max((int)(share * commits.Length), 1) - 1;
        if (commits.Length == 0)
            return null;

        var (begin, end) = (commits[LastOf(from)], commits[LastOf(to)]);
        var between = commits.Count(moment => moment > begin && moment <= end);
        return between >= EnoughCommits ? (double)between * Second / (end - begin) : null;
    }

    private long Elapsed => commits.Length == 0 ? 0 : commits[^1];

    /// <summary>
    /// Commits per bin from the first handler entry on. A commit on a border belongs to the bin that begins there, but the last commit
    /// ends the last bin. The last bin is as long as the rest of the drain; it is not scaled up.
    /// Empty if no time passed.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The bin is shorter than a microsecond.</exception>
    public IReadOnlyList<RateBin> Series(TimeSpan bin)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(bin, TimeSpan.FromMicroseconds(1));
        if (Elapsed == 0)
            return [];

        var width = bin.Ticks / TimeSpan.TicksPerMicrosecond;
        var counts = new int[(Elapsed + width - 1) / width];
        foreach (var commit in commits)
            counts[Math.Min(commit / width, counts.Length - 1)]++;

        return
        [
            .. counts.Select((count, index) =>
                new RateBin((double)(index * width) / Second, (double)Math.Min(width, Elapsed - (index * width)) / Second, count)),
        ];
    }
}

/// <summary>The commits of a stretch of time.</summary>
/// <param name="Start">Seconds after the first handler entry.</param>
/// <param name="Seconds">Its length in seconds.</param>
public sealed record RateBin(double Start, double Seconds, int Commits)
{
    public double PerSecond => Commits / Seconds;
}
