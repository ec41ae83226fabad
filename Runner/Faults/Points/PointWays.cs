using Kit.Runner.Results.Faults;

namespace Kit.Runner.Faults.Points;

/// <summary>The ways in which a point can be met, as tokens name them and as sentences tell them.</summary>
internal static class PointWays
{
    private const string Letters = "abcd";

    public static char LetterOf(PointWay way) => Letters[(int)way];

    /// <returns><see langword="null"/> if there is no such way.</returns>
    public static PointWay? Of(string letter) =>
        letter.Length == 1 && Letters.IndexOf(letter[0], StringComparison.Ordinal) is >= 0 and var at ? (PointWay)at : null;

    /// <summary>Whether the runner kills the process.</summary>
    public static bool Kills(this PointWay way) => way is PointWay.NeverSent or PointWay.Killed;

    /// <summary>The moment, in words.</summary>
    public static string MomentOf(CrashPoint point, PointWay way) => way switch
    {
        PointWay.NeverSent => $"{RequestOf(point)} never reached the server, and the process was killed",
        PointWay.Killed => $"{RequestOf(point)} was executed, its answer withheld, and the process killed",
        PointWay.Cut => $"{RequestOf(point)} was executed, its answer withheld, and the connection cut",
        PointWay.Unanswered => $"{RequestOf(point)} was executed, and its answer never came",
        _ => throw new ArgumentOutOfRangeException(nameof(way), way, "No such way."),
    };

    private static string RequestOf(CrashPoint point)
    {
        var which = point.Request.Sent == 1 ? "" : $", no. {point.Request.Sent}";
        // A longer statement says itself what it does.
        var after = point.Before is null || point.Request.Text.Length > StatementText.MostOfACommand ? "" : $", after {StatementText.Short(point.Before)}";
        return $"{StatementText.Short(point.Request.Text)} ({point.Request.Server}{which}{after})";
    }
}
