using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Tests.Results.Guarantees;

public sealed class PromisesOfTheModes
{
    /// <summary>The whole table, to be read: what is written there is what every cell is held to.</summary>
    [Test]
    public void Are_as_approved()
    {
        using var output = new StringWriter { NewLine = "\n" };
        PromiseText.Write(TransactionMode.All, output);

        Approval.Verify("promises.txt", output.ToString());
    }

    [TestCaseSource(typeof(TransactionMode), nameof(TransactionMode.All))]
    public void Are_some_for_every_fault(TransactionMode mode)
    {
        foreach (var fault in Fault.All)
            Assert.That(FaultPromise.Of(fault, mode, isBroker: false), Is.Not.Empty, fault.Name);
    }

    [Test]
    public void Of_a_mode_that_nobody_entered_are_refused()
    {
        var invented = TransactionMode.FullDtc with { Name = "invented" };

        foreach (var choose in new Action[] { () => FaultPromise.Of(Fault.Poison, invented, isBroker: false), () => FaultPromise.Always(invented) })
            Assert.That(choose, Throws.TypeOf<UnknownModeException>().With.Message.StartsWith("the promises under faults: mode 'invented'"));
    }

    [Test]
    public void Of_a_fault_that_nobody_entered_are_refused() =>
        Assert.That(
            () => FaultPromise.Of(new Fault("invented", "nobody knows"), TransactionMode.FullDtc, isBroker: false),
            Throws.TypeOf<NotSupportedException>().With.Message.Contains("'invented'"));
}
