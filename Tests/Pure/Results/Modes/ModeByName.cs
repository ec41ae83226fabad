using Kit.Modes;

namespace Kit.Tests.Results.Modes;

public sealed class ModeByName
{
    [TestCaseSource(typeof(TransactionMode), nameof(TransactionMode.All))]
    public void Is_found(TransactionMode mode) => Assert.That(TransactionMode.Parse(mode.ToString()), Is.SameAs(mode));

    [TestCase("dtc")]
    [TestCase("Full-DTC")]
    [TestCase("")]
    public void Unknown_is_refused_with_those_that_there_are(string name) => Assert.That(
        () => TransactionMode.Parse(name),
        Throws.ArgumentException.With.Message.StartsWith(
            $"Unknown mode '{name}'. Modes: full-dtc, dtc-off, scope-off, transactions-off, full-dtc-waiting, full-dtc-promoted, " +
            "npgsql-scope, shared, outbox. ").And.Property(nameof(ArgumentException.ParamName)).EqualTo("name"));

    [Test]
    public void That_nobody_wired_is_refused_with_the_place_that_lacks_it()
    {
        var table = new ByMode<int>("the receivers of a queue") { { TransactionMode.DtcOff, 1 }, { [TransactionMode.ScopeOff, TransactionMode.Shared], 2 } };

        using (Assert.EnterMultipleScope())
        {
            Assert.That(table.Of(TransactionMode.DtcOff), Is.EqualTo(1));
            Assert.That(table.Of(TransactionMode.Shared), Is.EqualTo(2));
            Assert.That(table.Select(entry => entry.Key), Is.EquivalentTo([TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Shared]));
            Assert.That(
                () => table.Of(TransactionMode.Outbox),
                Throws.TypeOf<UnknownModeException>().With.Message.EqualTo(
                    "the receivers of a queue: no entry for mode 'outbox'. Add one, or say why the mode is not supported."));
        }
    }
}
