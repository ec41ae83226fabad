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
        foreach (var limit in KnownLimit.All)
        {
            output.WriteLine(
                $"{limit.Framework}/{limit.Transport ?? "any transport"}, {limit.Fault?.Name ?? "storm"}, " +
                $"{Words.Of(limit.Affected)}: {Words.Of(limit.Classes)}");
            output.WriteLine($"  {string.Join(", ", limit.Modes)}");
            output.WriteLine($"  {limit.Reason}");
        }

        Approval.Verify("known-limits.txt", output.ToString());
    }

    [TestCase("masstransit", "rabbitmq", true)]
    [TestCase("masstransit", "postgresql", true, Description = "It is the driver's, on any transport.")]
    [TestCase("bare", "rabbitmq", false)]
    public void Are_found_by_framework(string framework, string transport, bool isKnown) => Assert.That(
        KnownLimit.Of(framework, transport, TransactionMode.DtcOff, Fault.SwallowedError, Affected.Chosen), Has.Count.EqualTo(isKnown ? 1 : 0));

    [TestCase("rabbitmq", true)]
    [TestCase("postgresql", false)]
    public void Are_found_by_transport_where_they_are_a_brokers(string transport, bool isKnown) => Assert.That(
        KnownLimit.Of("nservicebus", transport, TransactionMode.DtcOff, Fault.FailedDispatch, Affected.Bystander), Has.Count.EqualTo(isKnown ? 1 : 0));

    [Test]
    public void Of_counted_attempts_are_said_for_each_framework_by_name() => Assert.That(
        () => KnownLimit.CountedBy("another"),
        Throws.TypeOf<NotSupportedException>().With.Message.EqualTo("Nobody has said in which modes 'another' counts attempts."));

    [Test]
    public void Are_found_by_fault() => Assert.That(
        KnownLimit.Of("masstransit", "rabbitmq", TransactionMode.DtcOff, Fault.ThrowAfterInsert, Affected.Chosen), Is.Empty);
}
