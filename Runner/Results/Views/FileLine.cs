namespace Kit.Runner.Results.Views;

/// <summary>Where a figure stands in the files of a folder.</summary>
/// <param name="Folder">The folder's name.</param>
/// <param name="File">The file in it.</param>
/// <param name="Line">From 1.</param>
public sealed record FileLine(string Folder, string File, int Line)
{
    public override string ToString() => $"{Folder}/{File}:{Figures.Plain(Line)}";
}
