using System.Globalization;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Faults.Points;

/// <summary>The name of one experiment: <c>bare.postgresql.outbox@7:b</c>.</summary>
/// <param name="Of">The recorded cell or application, as its user names it.</param>
/// <param name="Way">The event at the point.</param>
internal sealed record PointToken(string Of, int Number, PointWay Way)
{
    /// <summary>The form, for error messages.</summary>
    public const string Form = "cell@point:way, as in bare.postgresql.outbox@7:b";

    /// <returns><see langword="null"/> if it does not have the form.</returns>
    public static PointToken? TryParse(string typed) =>
        typed.Split('@') is [{ Length: > 0 } of, var rest] && rest.Split(':') is [var number, var letter]
        && int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out var point) && point > 0 && PointWays.Of(letter) is { } way
            ? new PointToken(of, point, way)
            : null;

    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Of}@{Number}:{Way.Facts().Letter}");
}
