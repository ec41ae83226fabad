using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Faults.Experiments;

public sealed class PromisesOfTheModes
{
    /// <summary>The whole table, to be read: what is written there is what every cell is held to.</summary>
    [Test]
    public async Task Are_as_approved()
    {
        var result = await RunnerProcess.RunAsync("list", "--promises");

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Success), result.Errors);
        Approval.Verify("promises.txt", result.Output);
    }

    [TestCaseSource(typeof(TransactionMode), nameof(TransactionMode.All))]
    public void Are_some_for_every_fault(TransactionMode mode)
    {
        foreach (var fault in Fault.All)
            Assert.That(FaultPromise.Of(fault, mode, isBroker: false), Is.Not.Empty, fault.Name);
    }

    [Test]
    public void Of_a_fault_that_nobody_entered_are_refused() =>
        Assert.That(
            () => FaultPromise.Of(new Fault("invented", "nobody knows"), TransactionMode.FullDtc, isBroker: false),
            Throws.TypeOf<NotSupportedException>().With.Message.Contains("'invented'"));
}
