using Kit.Modes;

namespace Kit.Tests.Samples;

/// <summary>What the page of the package with the modes shows.</summary>
public sealed class ModeByItsName
{
    [Test]
    public void Tells_what_it_is()
    {
        var mode = TransactionMode.Parse("outbox");   // an unknown name is an error that lists the valid ones
        Console.WriteLine($"{mode.Name}: {mode.ImmediateRetries} retries, {mode.Isolation}");

        Assert.That(mode, Is.EqualTo(TransactionMode.Outbox));
    }
}
