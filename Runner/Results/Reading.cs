namespace Kit.Runner.Results;

/// <summary>A figure that was read, or the reason why it could not be.</summary>
public sealed record Reading(double? Value, string? Because)
{
    public static Reading Of(double value) => new(value, null);

    /// <summary>The same for one of so many.</summary>
    public Reading Per(int count) => Value is { } total ? Of(total / count) : this;

    public static Reading Missing(string because) => new(null, because);
}
