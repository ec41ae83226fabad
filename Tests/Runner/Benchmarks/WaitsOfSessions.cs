using Kit.Benchmarks.Waits;

namespace Kit.Tests.Benchmarks;

public sealed class WaitsOfSessions
{
    [Test]
    public void Are_counted_per_sample_whatever_was_seen_in_it()
    {
        var samples = new WaitSamples { Taken = 3 };
        samples.Add("IO: WALSync", 2);
        var others = new WaitSamples { Taken = 1 };
        others.Add("IO: WALSync", 1);
        others.Add(WaitSampler.Running, 1);
        samples.Add(others);

        Assert.Multiple(() =>
        {
            Assert.That(samples.MeanOf("IO: WALSync"), Is.EqualTo(0.75));
            Assert.That(samples.MeanOf(WaitSampler.Running), Is.EqualTo(0.25));
            Assert.That(samples.MeanOf("Lock: tuple"), Is.Zero);
            Assert.That(samples.Waits, Is.EquivalentTo(["IO: WALSync", WaitSampler.Running]));
        });
    }

    [Test]
    public void Of_no_sample_are_none() => Assert.That(new WaitSamples().MeanOf(WaitSampler.Running), Is.Zero);
}
