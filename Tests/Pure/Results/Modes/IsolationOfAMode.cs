using System.Transactions;
using Kit.Modes;
using DataIsolation = System.Data.IsolationLevel;

namespace Kit.Tests.Results.Modes;

public sealed class IsolationOfAMode
{
    [TestCase(DataIsolation.ReadCommitted, IsolationLevel.ReadCommitted, "read committed")]
    [TestCase(DataIsolation.RepeatableRead, IsolationLevel.RepeatableRead, "repeatable read")]
    [TestCase(DataIsolation.Serializable, IsolationLevel.Serializable, "serializable")]
    public void Is_the_same_for_a_transaction_and_for_a_scope(DataIsolation level, IsolationLevel scope, string words)
    {
        var mode = TransactionMode.DtcOff with { Isolation = level };
        var settings = new TransactionSettings(mode, TimeSpan.FromSeconds(7));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(mode.IsolationInWords, Is.EqualTo(words));
            Assert.That(settings.Isolation, Is.EqualTo(level));
            Assert.That(settings.Options, Is.EqualTo(new TransactionOptions { IsolationLevel = scope, Timeout = TimeSpan.FromSeconds(7) }));
            Assert.That(
                settings.LongestOptions,
                Is.EqualTo(new TransactionOptions { IsolationLevel = scope, Timeout = TransactionManager.MaximumTimeout }));
        }
    }

    [Test]
    public void Is_refused_where_no_mode_has_it() => Assert.That(
        () => new TransactionSettings(TransactionMode.DtcOff with { Isolation = DataIsolation.Chaos }, TimeSpan.FromSeconds(1)).Options,
        Throws.TypeOf<NotSupportedException>().With.Message.EqualTo(
            "No mode of the kit uses Chaos. Expected: read committed, repeatable read or serializable."));
}
