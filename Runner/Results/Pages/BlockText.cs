namespace Kit.Runner.Results.Pages;

/// <summary>What a block has to be.</summary>
/// <param name="Lines">Its lines.</param>
internal sealed record BlockText(IReadOnlyList<string> Lines)
{
    /// <summary>A file that the lines show; <see langword="null"/>: none.</summary>
    public (string Path, string Text)? Picture { get; init; }

    /// <summary>Whose lines were left as they are, because this build cannot say what they must be.</summary>
    public IReadOnlyList<string> Kept { get; init; } = [];

    public static BlockText Of(params IEnumerable<string> lines) => new([.. lines]);
}
