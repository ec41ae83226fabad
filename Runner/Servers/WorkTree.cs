using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>The checkout in which a program was built.</summary>
internal static class WorkTree
{
    /// <summary>
    /// The commit that this program was built from; without one, that of the work tree in which it is. It is dirty if the tree has uncommitted changes, or by
    /// now another commit: what was built can then differ from it.
    /// </summary>
    public static async Task<GitCommit?> CommitAsync(CancellationToken cancellationToken)
    {
        if (ExternalProgram.OnSearchPath("git") is not { } path)
            return null;

        var git = new ExternalProgram(path, Folder: AppContext.BaseDirectory);
        var commit = await git.RunAsync(["rev-parse", "HEAD"], cancellationToken);
        var changes = await git.RunAsync(["status", "--porcelain", "--", ":/", ":(top,exclude)results"], cancellationToken);
        return commit.Succeeded ? CommitOf(Build.OfThis(), commit.Output.Trim(), changes.Output.Trim().Length > 0) : null;
    }

    /// <param name="checkedOut">The commit of the work tree in which the build is.</param>
    /// <param name="hasChanges">The tree has uncommitted changes.</param>
    internal static GitCommit CommitOf(Build build, string checkedOut, bool hasChanges) =>
        new(build.Commit ?? checkedOut, hasChanges || build.IsStale(checkedOut));
}
