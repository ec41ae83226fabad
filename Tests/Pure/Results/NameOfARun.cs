using Kit.Runner.Results;

namespace Kit.Tests.Results;

public sealed class NameOfARun
{
    private static readonly DateTimeOffset Started = new(2026, 3, 1, 0, 30, 0, TimeSpan.FromHours(2));
    private static readonly GitCommit Commit = new("0123456789abcdef0123456789abcdef01234567", Dirty: false);

    [Test]
    public void Is_the_day_in_UTC_and_the_commit() => Assert.That(RunName.Of(Started, Commit), Is.EqualTo("2026-02-28-0123456"));

    [Test]
    public void Says_where_the_commit_is_not_known() => Assert.That(RunName.Of(Started, commit: null), Is.EqualTo("2026-02-28-unknown"));

    [Test]
    public void Has_a_number_where_there_is_one_already()
    {
        using var temporary = new TemporaryFolder();
        var first = RunName.NewFolder(temporary.Path, Started, Commit);
        Directory.CreateDirectory(first);
        var second = RunName.NewFolder(temporary.Path, Started, Commit);
        Directory.CreateDirectory(second);

        Assert.That(
            new[] { first, second, RunName.NewFolder(temporary.Path, Started, Commit) }.Select(Path.GetFileName),
            Is.EqualTo(["2026-02-28-0123456", "2026-02-28-0123456-2", "2026-02-28-0123456-3"]));
    }
}
