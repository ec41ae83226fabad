using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Tests.Results.Guarantees;

public sealed class LimitsOfFrameworks
{
    /// <summary>The whole list, to be read: what is written there explains a promise that is not kept.</summary>
    [Test]
    public void Are_as_approved()
    {
        using var output = new StringWriter { NewLine = "\n" };
        foreach (var (framework, limit) in EndpointKinds.Frameworks.SelectMany(framework => framework.Limits.Select(limit => (framework, limit))))
        {
            output.WriteLine(
                $"{framework.Name}/{limit.Transport ?? "any transport"}, {limit.Fault?.Name ?? (limit.AlsoAtAPoint ? "storm or point" : "storm")}, " +
                $"{Words.Of(limit.Affected)}: {Words.Of(limit.Classes)}");
            output.WriteLine($"  {string.Join(", ", limit.Modes)}");
            output.WriteLine($"  {limit.Reason}");
        }

        Approval.Verify("known-limits.txt", output.ToString());
    }

    [TestCase("masstransit", "rabbitmq", true)]
    [TestCase("masstransit", "postgresql", true, Description = "It is the driver's, on any transport.")]
    [TestCase("bare", "rabbitmq", false)]
    [TestCase("bare", "sqlserver", true)]
    public void Are_found_by_framework(string framework, string transport, bool isKnown) => Assert.That(
        LimitsOf(framework, transport, Fault.SwallowedError, Affected.Chosen), Has.Count.EqualTo(isKnown ? 1 : 0));

    [TestCase("rabbitmq", true)]
    [TestCase("postgresql", false)]
    public void Are_found_by_transport_where_they_are_a_brokers(string transport, bool isKnown) => Assert.That(
        LimitsOf("nservicebus", transport, Fault.FailedDispatch, Affected.Bystander), Has.Count.EqualTo(isKnown ? 1 : 0));

    [TestCase(false, 1)]
    [TestCase(true, 0)]
    public void Of_a_dead_letter_at_once_end_where_it_waits_for_the_next_delivery(bool deadLettersNext, int limits) => Assert.That(
        FactsOfRebus.Facts.Limits.Count(
            limit => limit.IsOf("postgresql", TransactionMode.Shared, Fault.Poison, Affected.Chosen, deadLettersNext)), Is.EqualTo(limits));

    [TestCase("postgresql", "scope-off", true, ExpectedResult = "duplicated-outgoing")]
    [TestCase("postgresql", "scope-off", false, ExpectedResult = "zombie/duplicated-outgoing")]
    [TestCase("postgresql", "outbox", true, ExpectedResult = "")]
    [TestCase("postgresql", "outbox", false, ExpectedResult = "duplicated/duplicated-outgoing")]
    [TestCase("rabbitmq", "scope-off", false, ExpectedResult = "zombie")]
    [TestCase("rabbitmq", "scope-off", false, Affected.Bystander, ExpectedResult = "zombie")]
    [TestCase("postgresql", "scope-off", false, Affected.Bystander, ExpectedResult = "")]
    public string At_a_point_need_one_fault_alone(string transport, string mode, bool isKilled, Affected affected = Affected.Chosen) => Words.Of(
        from limit in FactsOfWolverine.Facts.LimitsAtAPoint(Cell.Find($"wolverine.{transport}.{mode}.ado")!, affected, isKilled)
        from kind in limit.Classes
        select kind);

    [Test]
    public void Are_found_by_fault() => Assert.That(
        LimitsOf("masstransit", "rabbitmq", Fault.ThrowAfterInsert, Affected.Chosen), Is.Empty);

    private static List<KnownLimit> LimitsOf(string framework, string transport, Fault fault, Affected affected) =>
    [
        .. from facts in EndpointKinds.Frameworks
           where facts.Name == framework
           from limit in facts.Limits
           where limit.IsOf(transport, TransactionMode.DtcOff, fault, affected, deadLettersNext: false)
           select limit,
    ];
}
