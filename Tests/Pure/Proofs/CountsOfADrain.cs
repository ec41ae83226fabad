using Kit.Prove.Drains;
using Kit.Prove.Files;
using Kit.Prove.Service;

namespace Kit.Tests.Proofs;

/// <summary>A service cannot say what it handles, so its effects are counted while it works.</summary>
[Parallelizable]
public sealed class CountsOfADrain
{
    private static readonly IReadOnlyList<Effect> Effects =
    [
        new RowEffect("row", "orders", "SELECT id FROM placed_order", PerMessage: 2), new QueueEffect("shipment", "shipments", PerMessage: 1),
    ];

    // The message before the round has left its rows, and its shipment was taken from the queue.
    private static readonly Dictionary<string, long> Before = new() { ["row"] = 2, ["shipment"] = 0 };

    [TestCase(2, 0, 0)]
    [TestCase(202, 99, 99)]
    [TestCase(201, 100, 99)]
    [TestCase(202, 100, 100)]
    public void A_message_is_handled_when_each_effect_has_grown_by_it(long rows, long shipments, int handled) => Assert.That(
        DrainedService.HandledOf(Effects, Before, new Dictionary<string, long> { ["row"] = rows, ["shipment"] = shipments }), Is.EqualTo(handled));

    [TestCase(1, 250)]
    [TestCase(12.5, 250)]
    [TestCase(100, 2_000)]
    [TestCase(250, 5_000)]
    [TestCase(10_000, 5_000)]
    public void A_pause_is_twenty_times_as_long_as_the_count(double count, double pause) =>
        Assert.That(MeasuredService.PauseAfter(TimeSpan.FromMilliseconds(count)), Is.EqualTo(TimeSpan.FromMilliseconds(pause)));
}
