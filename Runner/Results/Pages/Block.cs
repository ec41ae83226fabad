namespace Kit.Runner.Results.Pages;

/// <summary>The lines between two marks of a page, which a command writes.</summary>
/// <param name="Name">A page has it once.</param>
/// <param name="Folders">The folders of results from which it is made, as its mark names them; empty where it needs none.</param>
/// <param name="Place">The page and the line of its mark: <c>README.md:12</c>.</param>
/// <param name="Begin">Index of its first line in the page.</param>
internal sealed record Block(string Name, IReadOnlyList<string> Folders, string Place, int Begin, IReadOnlyList<string> Lines);
