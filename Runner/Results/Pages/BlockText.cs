namespace Kit.Runner.Results.Pages;

/// <summary>The new content of a block.</summary>
internal sealed record BlockText(IReadOnlyList<string> Lines)
{
    /// <summary>The files that the lines show.</summary>
    public IReadOnlyList<(string Path, string Text)> Pictures { get; init; } = [];

    /// <summary>Notes about lines that were left as they are, because this build cannot tell what they must be.</summary>
    public IReadOnlyList<string> Kept { get; init; } = [];

    public static BlockText Of(params IEnumerable<string> lines) => new([.. lines]);
}
