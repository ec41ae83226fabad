using Kit.Runner.Results;
using Kit.Runner.Servers;

namespace Kit.Runner.Rounds.Joining;

/// <summary>The build of a run or of a worker. Both sides of a run must have the same, or its rounds would measure two programs.</summary>
/// <param name="Protocol">That of its <see cref="JoiningNotice"/>.</param>
/// <param name="Version">Its version, with the commit that it was built from.</param>
/// <param name="Fingerprint">Of its assemblies.</param>
/// <param name="Commit">The commit of the program; <see langword="null"/>: it is in no work tree.</param>
internal sealed record JoiningBuild(int Protocol, string Version, string Fingerprint, GitCommit? Commit)
{
    /// <summary>Another number: the notices have changed, and builds on both sides of the change do not understand each other.</summary>
    private const int OfThis = 2;

    /// <summary>The build of this process.</summary>
    public static async Task<JoiningBuild> OfThisAsync(CancellationToken cancellationToken)
    {
        var build = Build.OfThis();
        return new JoiningBuild(OfThis, build.Version, build.Fingerprint, await WorkTree.CommitAsync(cancellationToken));
    }

    /// <summary>
    /// True if a worker's build is the run's: the same assemblies, or both from the same commit without changes, because folders of its machine can be in
    /// the assemblies of a build.
    /// </summary>
    public bool IsSameAs(JoiningBuild other) =>
        Protocol == other.Protocol
        && (string.Equals(Fingerprint, other.Fingerprint, StringComparison.Ordinal)
            || (string.Equals(Version, other.Version, StringComparison.Ordinal) && Commit?.IsSameBuildAs(other.Commit) is true));

    /// <summary>For a reader.</summary>
    public override string ToString() =>
        $"version {Version}{Commit?.Changes}, fingerprint {Fingerprint}, protocol {Figures.Plain(Protocol)}";
}
