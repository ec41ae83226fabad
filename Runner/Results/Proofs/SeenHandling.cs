using System.Text.Json.Serialization;

namespace Kit.Runner.Results.Proofs;

/// <summary>One undisturbed handling, as the log of the databases and the proxies saw it.</summary>
/// <param name="Commits">Each commit's rows, in the order of the commits.</param>
/// <param name="Mode">The mode that it has, as far as that was seen.</param>
public sealed record SeenHandling(IReadOnlyList<SeenCommit> Commits, SeenMode Mode)
{
    /// <summary>True if it was not seen, so that its commits are not known.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool IsUnseen { get; init; }

    /// <summary>The mode that the promise needs and its published price, in sentences.</summary>
    public IReadOnlyList<string> Advice { get; init; } = [];

    /// <summary>Everything, in lines.</summary>
    public IEnumerable<string> Lines =>
    [
        .. IsUnseen ? [] : Commits.Count == 0 ? ["No row was committed."] : Commits.Select((commit, at) => $"Commit {Figures.Plain(at + 1)}, in {commit}"),
        $"{Mode}",
        .. Advice,
    ];
}

/// <summary>The rows that one transaction committed.</summary>
/// <param name="Rows">Kind and table of each kind of change: <c>INSERT placed_order</c>.</param>
public sealed record SeenCommit(string Database, IReadOnlyList<string> Rows)
{
    public override string ToString() => $"{Database}: {string.Join(", ", Rows)}";
}

/// <summary>The mode that a service has, in the words of the kit.</summary>
/// <param name="Promise">A name of <see cref="NamedPromises"/>; <see langword="null"/>: it is not known.</param>
/// <param name="Mode">The kit's mode that commits in this order; <see langword="null"/>: there is none, or it is not known.</param>
/// <param name="Because">What was seen, or why it does not tell: a clause.</param>
public sealed record SeenMode(string? Promise, string? Mode, string Because)
{
    public static SeenMode Unknown(string because) => new(Promise: null, Mode: null, because);

    public override string ToString() => Promise is null
        ? $"Not known is what it promises: {Because}. A crash shows it."
        : $"It has {Promise}{(Mode is null ? "" : $", as the mode {Mode}")}: {Because}.";
}
