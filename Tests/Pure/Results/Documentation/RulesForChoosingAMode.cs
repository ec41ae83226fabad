using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Tests.Results.Documentation;

/// <summary>The page that says which mode to take promises what the experiments are held to.</summary>
public sealed class RulesForChoosingAMode
{
    private const string None = "–";

    private static readonly TransactionMode[] OnBrokers =
        [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.TransactionsOff, TransactionMode.Outbox];

    private static readonly IReadOnlyList<IReadOnlyList<string>> Rules = [.. new MarkdownPage("docs/tutorials/choose-a-mode.md").FirstTable().Skip(1)];

    [Test]
    public void Each_mode_has_one() =>
        Assert.That(Rules.Select(NameIn), Is.EquivalentTo(TransactionMode.All.Select(mode => mode.Name)));

    [Test]
    public void Each_promises_what_the_mode_promises()
    {
        foreach (var rule in Rules)
        {
            var mode = TransactionMode.Parse(NameIn(rule));
            Assert.That(rule[1].Trim('`'), Is.EqualTo(Always(mode, isBroker: false)), mode.Name);
            Assert.That(rule[2].Trim('`'), Is.EqualTo(OnBrokers.Contains(mode) ? Always(mode, isBroker: true) : None), mode.Name);
        }
    }

    private static string NameIn(IReadOnlyList<string> rule) => rule[0].Split('`')[1];

    private static string Always(TransactionMode mode, bool isBroker) => Words.Of(FaultPromise.Always(mode, isBroker).Classes);
}
