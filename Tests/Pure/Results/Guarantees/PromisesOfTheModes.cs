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
    public void Give_a_message_up_where_nothing_is_tried_again_alone()
    {
        foreach (var mode in TransactionMode.All)
        {
            foreach (var isBroker in new[] { false, true })
            {
                Assert.That(
                    FaultPromise.Always(mode, isBroker).Classes.Contains(DeliveryClass.CleanError), Is.EqualTo(mode.Attempts == 1), $"{mode.Name}, {isBroker}");
            }
        }
    }

    [TestCase("full-dtc", false, 0)]
    [TestCase("shared", false, 0)]
    [TestCase("dtc-off", false, 20)]
    [TestCase("dtc-off", true, 320)]
    [TestCase("transactions-off", false, 30)]
    [TestCase("npgsql-scope", false, null)]
    [TestCase("transactions-off", true, null)]
    [TestCase("outbox", false, 30)]
    [TestCase("outbox", true, 30)]
    public void Say_how_many_messages_five_kills_and_five_cuts_may_touch(string mode, bool isBroker, int? most) =>
        Assert.That(
            FaultPromise.Always(TransactionMode.Parse(mode), isBroker).Most(kills: 5, cuts: 5, unsettled: 2, isBroker ? 32 : 0), Is.EqualTo(most));

    [Test]
    public void Of_a_mode_that_nobody_entered_are_refused()
    {
        var invented = TransactionMode.FullDtc with { Name = "invented" };

        foreach (var choose in new Action[]
        {
            () => FaultPromise.Of(Fault.Poison, invented, isBroker: false),
            () => FaultPromise.Always(invented, isBroker: false),
        })
            Assert.That(choose, Throws.TypeOf<UnknownModeException>().With.Message.StartsWith("the promises under faults: no entry for mode 'invented'"));
    }
}
