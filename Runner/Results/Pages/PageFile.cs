namespace Kit.Runner.Results.Pages;

/// <summary>A page with blocks, or a picture that one of them shows, as it has to be.</summary>
/// <param name="Path">From the root, with slashes.</param>
/// <param name="Text">All of it.</param>
/// <param name="Differing">What in it is otherwise now, each with its place.</param>
/// <param name="Kept">What was left as it is, because this build cannot say what it must be.</param>
public sealed record PageFile(string Path, string Text, IReadOnlyList<string> Differing, IReadOnlyList<string> Kept);
