namespace Kit.Runner.Results.Comparing;

/// <summary>The allowed differences between two sides.</summary>
/// <param name="Margin">A smaller difference is never called one.</param>
/// <param name="Threshold">A cell that is slower by more is a regression; <see langword="null"/>: no slower cell is.</param>
public sealed record Limits(Margin Margin, Margin? Threshold);
