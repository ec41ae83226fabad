namespace Kit.Runner.Results;

/// <summary>A figure, or the reason why it could not be read.</summary>
public sealed record Reading(double? Value, string? Because)
{
    public static Reading Of(double value) => new(value, null);

    /// <summary>The figure per message, divided by <paramref name="count"/>.</summary>
    public Reading Per(int count) => Value is { } total ? Of(total / count) : this;

    public static Reading Missing(string because) => new(null, because);
}
