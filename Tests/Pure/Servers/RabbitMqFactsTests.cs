using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

/// <summary>Brokers that a test machine does not have, invented.</summary>
public sealed class RabbitMqFactsTests
{
    private static readonly RabbitMqFacts Healthy = new(
        "kit at broker:5672, virtual host /", "4.1.0", new Uri("http://broker:15672/"),
        ManagementAbsent: null, MayMakeVirtualHosts: true, Alarm: null, Refusal: null);

    [Test]
    public void A_healthy_broker_has_no_problem() => Assert.That(Healthy.Findings().Select(finding => finding.Problem), Is.All.Null);

    [Test]
    public void A_user_who_is_no_administrator_is_no_hindrance()
    {
        var problem = ProblemOf(Healthy with { MayMakeVirtualHosts = false });

        Assert.Multiple(() =>
        {
            Assert.That(problem.IsFatal, Is.False);
            Assert.That(problem.Problem, Does.Contain("prefix"));
        });
    }

    [Test]
    public void A_user_who_may_not_publish_is_fatal() => Assert.That(ProblemOf(Healthy with { Refusal = "ACCESS_REFUSED" }).IsFatal, Is.True);

    private static Finding ProblemOf(RabbitMqFacts facts) => facts.Findings().Single(finding => finding.Problem is not null);
}
