using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>The checkout in which a program was built.</summary>
internal static class WorkTree
{
    /// <summary>The commit of the work tree in which this program was built, and whether the tree has uncommitted changes.</summary>
    public static async Task<GitCommit?> CommitAsync(CancellationToken cancellationToken)
    {
        if (ExternalProgram.OnSearchPath("git") is not { } path)
            return null;

        var git = new ExternalProgram(path, Folder: AppContext.BaseDirectory);
        var commit = await git.RunAsync(["rev-parse", "HEAD"], cancellationToken);
        var changes = await git.RunAsync(["status", "--porcelain", "--", ":/", ":(top,exclude)results"], cancellationToken);
        return commit.Succeeded ? new GitCommit(commit.Output.Trim(), changes.Output.Trim().Length > 0) : null;
    }
}
