using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Faults.Accounts;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Results;
using Kit.Runner.Rounds;
using Kit.Runner.Servers;

namespace Kit.Tests.Faults.Experiments;

/// <summary>
/// Every fault in every mode of the bare endpoints, as the <c>faults</c> command makes them: on servers of their own, several beside each other.
/// Frameworks are left to the command.
/// </summary>
[TestFixture(TransportName.PostgreSql)]
[TestFixture(TransportName.RabbitMq)]
[Category("faults")]
public sealed class OneFaultMeetsAMessage(string transport)
{
    /// <summary>
    /// A broker that is killed can hand out again what it had delivered under no-ack: a classic queue notes on disk what it forgot when it has
    /// time. Rows are doubled then that the mode promises at most once. Nothing else may be wrong.
    /// </summary>
    private static readonly IReadOnlyList<(string Transport, TransactionMode Mode, Fault Fault)> MayDouble =
        [(TransportName.RabbitMq, TransactionMode.TransactionsOff, Fault.RestartBroker)];

    private IReadOnlyList<FaultResult> results = [];
    private TemporaryFolder folder = null!;

    private static IEnumerable<TestCaseData> Places =>
        from mode in TransactionMode.Matrix
        from fault in Fault.All
        select new TestCaseData(mode, fault).SetArgDisplayNames(mode.Name, fault.Name);

    [OneTimeSetUp]
    public async Task MakeAllExperiments()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        if (transport == TransportName.RabbitMq)
            RabbitMqServer.IgnoreWithoutPrograms();

        folder = new TemporaryFolder();
        var cells = Cell.All.Where(cell => cell.Kind.Framework == "bare" && cell.Kind.Transport == transport && cell.Access.Name == "ado" && TransactionMode.Matrix.Contains(cell.Mode));
        var plan = new FaultPlan([.. cells], Fault.All, Storm: null, PrivateRabbitMq.FindSupport(), Speeds: null, folder.Path, "tests");
        (_, results) = await new FaultRun(plan, (result, done, planned) => TestContext.Progress.WriteLine($"{done} of {planned}: {result.Name} {result.Verdict}")).RunAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public void RemoveResults() => folder?.Dispose();

    [TestCaseSource(nameof(Places))]
    public void The_mode_keeps_its_promise(TransactionMode mode, Fault fault)
    {
        var cell = Cell.All.Single(one => one.Kind.Framework == "bare" && one.Kind.Transport == transport && one.Mode == mode && one.Access.Name == "ado");
        if (cell.Support.Because is { } reason)
            Assert.Ignore(reason);

        var result = results.Single(one => one.Cell == Provenance.NameOf(cell) && one.Fault == fault.Name);

        foreach (var line in result.Fired.Concat(result.Evidence))
            TestContext.Out.WriteLine(line);
        if (result.Verdict is FaultVerdict.NoWindow)
            Assert.Ignore($"No window: {result.Because}.");
        if (MayDouble.Contains((transport, mode, fault)) && result.Violations.All(violation => violation.Because.Contains(" is duplicated", StringComparison.Ordinal)))
            Assert.That(result.Verdict, Is.AnyOf(FaultVerdict.Kept, FaultVerdict.Broken), result.Because);
        else
            Assert.That(result.Verdict, Is.EqualTo(FaultVerdict.Kept), () => $"{result.Because}\n{string.Join('\n', result.Violations.Select(TextOf))}");
    }

    private static string TextOf(Violation violation) => $"{violation.Because}\n  {string.Join("\n  ", violation.Evidence)}";
}
