using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

/// <summary>Servers that a test machine does not have, invented.</summary>
public sealed class PostgreSqlFactsTests
{
    private static readonly PostgreSqlFacts Healthy = new(
        "kit at server:5432/postgres", 17, "17.2", 100, true, true, 0, 0, true, "on", true);

    [Test]
    public void A_healthy_server_has_no_problem() =>
        Assert.That(Healthy.Findings(twoPhaseWanted: true).Select(finding => finding.Problem), Is.All.Null);

    [Test]
    public void An_old_server_is_fatal()
    {
        var problem = ProblemOf(Healthy with { MajorVersion = 12, Version = "12.22" });

        Assert.Multiple(() =>
        {
            Assert.That(problem.IsFatal, Is.True);
            Assert.That(problem.Problem, Does.Contain("13 or newer").And.Contain("12.22"));
        });
    }

    [Test]
    public void Leftover_prepared_transactions_are_counted()
    {
        var problem = ProblemOf(Healthy with { PreparedTransactions = 3, OurPreparedTransactions = 2 });

        Assert.Multiple(() =>
        {
            Assert.That(problem.Found, Is.EqualTo("3, 2 of them the kit's"));
            Assert.That(problem.IsFatal, Is.False);
        });
    }

    [TestCase(false, "on", true)]
    [TestCase(true, "off", true)]
    [TestCase(true, "on", false)]
    public void Switched_off_durability_is_a_problem(bool fsync, string synchronousCommit, bool fullPageWrites)
    {
        var problem = ProblemOf(Healthy with { Fsync = fsync, SynchronousCommit = synchronousCommit, FullPageWrites = fullPageWrites });

        Assert.That(problem.Name, Is.EqualTo("durability"));
    }

    private static Finding ProblemOf(PostgreSqlFacts facts) =>
        facts.Findings(twoPhaseWanted: true).Single(finding => finding.Problem is not null);
}
