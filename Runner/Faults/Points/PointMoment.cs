using Kit.Runner.Results.Points;
using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Points;

/// <summary>The moment at which a point is met, as a sentence.</summary>
internal static class PointMoment
{
    public static string Of(CrashPoint point, PointWay way) => $"{RequestOf(point)} {way.Facts().Happened}";

    private static string RequestOf(CrashPoint point)
    {
        var which = point.Request.Sent == 1 ? "" : $", no. {point.Request.Sent}";
        // A longer statement says itself what it does.
        var after = point.Before is null || point.Request.Text.Length > StatementText.MostOfACommand ? "" : $", after {StatementText.Short(point.Before)}";
        return $"{StatementText.Short(point.Request.Text)} ({point.Request.Server}{which}{after})";
    }
}
