using Kit.Runner.Results;

namespace Kit.Runner.Servers;

/// <summary>The checkout in which a program was built.</summary>
internal static class WorkTree
{
    /// <summary>
    /// The commit that this program was built from; if its version names none, that of the work tree in which it is. It has changes if the tree has, or has
    /// another commit by now: what was built can differ from it. What pages and results say is not a part of the program.
    /// </summary>
    /// <returns><see langword="null"/> outside of a work tree of the kit, and without git.</returns>
    public static async Task<GitCommit?> CommitAsync(CancellationToken cancellationToken)
    {
        if (ExternalProgram.OnSearchPath("git") is not { } path)
            return null;

        var git = new ExternalProgram(path, Folder: AppContext.BaseDirectory);
        var commit = await git.RunAsync(["rev-parse", "--show-toplevel", "HEAD"], cancellationToken);
        if (!commit.Succeeded || commit.Output.Trim().Split('\n') is not [var top, var head])
            return IsInOne(AppContext.BaseDirectory) && Build.OfThis().Commit is { } built ? new GitCommit(built, Dirty: true) : null;
        // The kit can be a folder of something else that is checked out.
        if (!File.Exists(Path.Combine(top.TrimEnd(), Solution)))
            return null;

        var changes = await git.RunAsync(["status", "--porcelain", "--", ":/", .. NotOfTheProgram], cancellationToken);
        return CommitOf(Build.OfThis(), head.Trim(), changes.Output.Trim().Length > 0);
    }

    /// <summary>The file at the root of the kit's repository.</summary>
    internal const string Solution = "Kit.sln";

    /// <summary>The folder of <see cref="Solution"/>: this one, or one above it; <see langword="null"/>: there is none.</summary>
    internal static string? RootAbove(string folder)
    {
        for (var root = new DirectoryInfo(folder); root is not null; root = root.Parent)
        {
            if (File.Exists(Path.Combine(root.FullName, Solution)))
                return root.FullName;
        }

        return null;
    }

    /// <summary>Git reads no work tree of another user: what changed is not known there, but what was built is.</summary>
    internal static bool IsInOne(string folder) => RootAbove(folder) is { } root && Path.Exists(Path.Combine(root, ".git"));

    private static readonly IReadOnlyList<string> NotOfTheProgram =
        [":(top,exclude)results", ":(top,exclude)docs/results", ":(top,exclude,glob)docs/*.svg", ":(top,exclude,glob)**/*.md"];

    /// <param name="checkedOut">The commit of the work tree in which the build is.</param>
    /// <param name="hasChanges">The tree has uncommitted changes.</param>
    internal static GitCommit CommitOf(Build build, string checkedOut, bool hasChanges) =>
        new(build.Commit ?? checkedOut, hasChanges || (build.Commit is { } built && built != checkedOut));
}
