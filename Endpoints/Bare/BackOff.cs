namespace Kit.Endpoints.Bare;

/// <summary>Pauses that double each time, up to eight times the first.</summary>
internal sealed class BackOff(TimeSpan first)
{
    private const int MostDoublings = 3;

    private int pauses;

    /// <summary>The pause after <paramref name="before"/> earlier ones.</summary>
    public static TimeSpan After(int before, TimeSpan first) => first * (1 << Math.Min(before, MostDoublings));

    /// <summary>The longest of them.</summary>
    public static TimeSpan Longest(TimeSpan first) => After(MostDoublings, first);

    public TimeSpan Next() => After(pauses++, first);

    public void Reset() => pauses = 0;
}
