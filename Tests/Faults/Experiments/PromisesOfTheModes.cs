using System.Text;
using Kit.Modes;
using Kit.Runner.Faults.Accounts;

namespace Kit.Tests.Faults.Experiments;

public sealed class PromisesOfTheModes
{
    /// <summary>The whole table, to be read: what is written there is what every cell is held to.</summary>
    [Test]
    public void Are_as_approved()
    {
        var table = new StringBuilder();
        foreach (var mode in TransactionMode.All)
        {
            table.Append($"{mode}\n");
            foreach (var fault in Fault.All)
            {
                var (queue, broker) = (Text(FaultPromise.Of(fault, mode, isBroker: false)), Text(FaultPromise.Of(fault, mode, isBroker: true)));
                table.Append($"  {fault.Name,-22}{queue}{(queue == broker ? "" : $"; with a broker {broker}")}\n");
            }

            table.Append($"  {"always",-22}{Text(FaultPromise.Always(mode))}\n");
        }

        Approval.Verify("promises.txt", table.ToString());
    }

    [TestCaseSource(typeof(TransactionMode), nameof(TransactionMode.All))]
    public void Are_some_for_every_fault(TransactionMode mode)
    {
        foreach (var fault in Fault.All)
            Assert.That(FaultPromise.Of(fault, mode, isBroker: false), Is.Not.Empty, fault.Name);
    }

    private static string Text(IEnumerable<DeliveryClass> classes) => string.Join('/', classes.Order().Select(Words.Of));
}
