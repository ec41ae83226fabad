namespace Kit.Runner.Results.Views;

/// <summary>A figure with its text in every report.</summary>
/// <param name="Value">In full; <see langword="null"/> if it is not known.</param>
/// <param name="Text">Rounded, with separators.</param>
public sealed record Figure(double? Value, string Text)
{
    /// <summary>A measured figure.</summary>
    public static Figure Of(double? value) => new(value, Figures.Measured(value));

    /// <summary>A count.</summary>
    public static Figure Of(int? count) => new(count, count is { } known ? Figures.Count(known) : Figures.None);

    /// <summary>The text without separators, for other tools; empty if it is not known.</summary>
    internal string Plain => Value is null ? "" : Text.Replace(",", "", StringComparison.Ordinal);
}
