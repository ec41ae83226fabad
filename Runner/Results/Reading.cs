namespace Kit.Runner.Results;

/// <summary>A figure that was read, or the reason why it could not be.</summary>
public sealed record Reading(double? Value, string? Because)
{
    public static Reading Of(double value) => new(value, null);

    public static Reading Missing(string because) => new(null, because);
}
