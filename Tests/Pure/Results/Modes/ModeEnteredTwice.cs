using Kit.Modes;

namespace Kit.Tests.Results.Modes;

public sealed class ModeEnteredTwice
{
    [Test]
    public void Is_refused() => Assert.That(
        () => new ByMode<int>("a table") { { TransactionMode.DtcOff, 1 }, { [TransactionMode.ScopeOff, TransactionMode.DtcOff], 2 } },
        Throws.ArgumentException);
}
