using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>The checkout in which a program was built.</summary>
internal static class WorkTree
{
    /// <summary>
    /// The commit that this program was built from; if its version names none, that of the work tree in which it is. It has changes if the tree has, or has
    /// another commit by now: what was built can differ from it. What pages and results say is not a part of the program.
    /// </summary>
    /// <returns><see langword="null"/> outside of a work tree, and without git.</returns>
    public static async Task<GitCommit?> CommitAsync(CancellationToken cancellationToken)
    {
        if (ExternalProgram.OnSearchPath("git") is not { } path)
            return null;

        var git = new ExternalProgram(path, Folder: AppContext.BaseDirectory);
        var commit = await git.RunAsync(["rev-parse", "HEAD"], cancellationToken);
        var changes = await git.RunAsync(["status", "--porcelain", "--", ":/", .. NotOfTheProgram], cancellationToken);
        return commit.Succeeded ? CommitOf(Build.OfThis(), commit.Output.Trim(), changes.Output.Trim().Length > 0) : null;
    }

    private static readonly IReadOnlyList<string> NotOfTheProgram =
        [":(top,exclude)results", ":(top,exclude)docs/results", ":(top,exclude,glob)docs/*.svg", ":(top,exclude,glob)**/*.md"];

    /// <param name="checkedOut">The commit of the work tree in which the build is.</param>
    /// <param name="hasChanges">The tree has uncommitted changes.</param>
    internal static GitCommit CommitOf(Build build, string checkedOut, bool hasChanges) =>
        new(build.Commit ?? checkedOut, hasChanges || (build.Commit is { } built && built != checkedOut));
}
