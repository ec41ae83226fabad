namespace Kit.Runner.Results.Pages;

/// <summary>What stands between two marks of a page, which a command writes.</summary>
/// <param name="Name">What it is; a page has it once.</param>
/// <param name="Folders">The folders of results that it is made from, as its mark names them; empty where it needs none.</param>
/// <param name="Place">The page and the line of its mark: <c>README.md:12</c>.</param>
/// <param name="Begin">The index of its first line in the page.</param>
/// <param name="Lines">What stands there now.</param>
internal sealed record Block(string Name, IReadOnlyList<string> Folders, string Place, int Begin, IReadOnlyList<string> Lines);
