namespace Kit.Runner.Results.Comparing;

/// <summary>What two sides may differ by.</summary>
/// <param name="Margin">Below it nothing is called a difference.</param>
/// <param name="Threshold">Beyond it a slower cell is a regression; <see langword="null"/>: speed is reported, and is none.</param>
public sealed record Limits(Margin Margin, Margin? Threshold);
