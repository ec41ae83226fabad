using Kit.Handlers;

namespace Kit.Tests.Handlers;

/// <summary>Other tests make ids at the same time, so the process's number is put back, and is unlike theirs only for a moment.</summary>
public sealed class IdsOfWidgets
{
    [Test]
    public void Have_the_number_of_their_process()
    {
        var own = WidgetId.Process;
        try
        {
            WidgetId.Process = 511;
            Assert.That((WidgetId.Next() >> 12) & 511, Is.EqualTo(511));
        }
        finally
        {
            WidgetId.Process = own;
        }
    }

    [TestCase(-1)]
    [TestCase(512)]
    public void Have_a_number_of_9_bits(int process) =>
        Assert.That(() => WidgetId.Process = process, Throws.TypeOf<ArgumentOutOfRangeException>());
}
