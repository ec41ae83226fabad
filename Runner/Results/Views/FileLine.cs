namespace Kit.Runner.Results.Views;

/// <summary>The place of a figure in the files of a folder.</summary>
/// <param name="Line">From 1.</param>
public sealed record FileLine(string Folder, string File, int Line)
{
    public override string ToString() => $"{Folder}/{File}:{Figures.Plain(Line)}";
}
