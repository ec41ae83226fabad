using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Rounds;

namespace Kit.Tests.Faults.Experiments;

/// <summary>
/// Every fault in the modes of the bare endpoints, as the <c>faults</c> command makes them: on servers of their own, several side by side.
/// Frameworks are left to the command, and so is <c>scope-off</c> on RabbitMQ: its receive is that of <c>dtc-off</c>, its handler that of
/// PostgreSQL's <c>scope-off</c>.
/// </summary>
[Category("faults")]
[Parallelizable]
public sealed class OneFaultMeetsAMessage
{
    /// <summary>A server that is away, or silent, takes up to half a minute for each cell: the other modes are left to the command.</summary>
    private static readonly IReadOnlyList<Fault> Slow = [Fault.DatabaseAway, Fault.NetworkSilent, Fault.RestartBrokerHalfway, Fault.RestartBrokerLate];

    private static readonly IReadOnlyList<TransactionMode> AwayModes = [TransactionMode.FullDtc, TransactionMode.Outbox];

    private static readonly IReadOnlyList<TransactionMode> Modes = [.. TransactionMode.Matrix, TransactionMode.Shared, TransactionMode.Outbox];

    private IReadOnlyList<FaultResult> results = [];

    private static IEnumerable<Cell> Cells => Cell.All.Where(cell =>
        cell is { Kind.Framework: "bare", Kind.Transport: TransportName.PostgreSql or TransportName.RabbitMq, Access.Name: "ado", Support.IsSupported: true }
        && cell.IsPlain && Modes.Contains(cell.Mode) && (cell.Kind.Transport, cell.Mode) != (TransportName.RabbitMq, TransactionMode.ScopeOff)
        && TestTransport.MissingServer(cell.Kind.Transport) is null);

    private static IEnumerable<TestCaseData> Places =>
        from cell in Cells
        from fault in Fault.All
        where Injection.Of(fault, cell, Guid.Empty) is not NoWindow
        where !Slow.Contains(fault) || AwayModes.Contains(cell.Mode)
        select new TestCaseData(cell, fault).SetArgDisplayNames($"{cell}", fault.Name);

    [OneTimeSetUp]
    public async Task MakeAllExperiments()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        // Each transport on servers of its own. One after the other: a run makes four experiments side by side, and has other fixtures next to it. With
        // more of them each waits longer for a processor, and meanwhile asks for its counts, which takes most of the processors' time.
        var made = new List<FaultResult>();
        foreach (var cells in Cells.GroupBy(cell => cell.Kind.Transport))
            made.AddRange(await MakeAllAsync([.. cells]));
        results = made;
    }

    [TestCaseSource(nameof(Places))]
    public void The_mode_keeps_its_promise_or_the_reason_is_known(Cell cell, Fault fault)
    {
        var result = results.Single(one => one.Cell == Provenance.NameOf(cell) && one.Fault == fault.Name);

        foreach (var line in result.Fired.Concat(result.Evidence))
            TestContext.Out.WriteLine(line);
        if (result.Known is { } reason)
            TestContext.Out.WriteLine($"Broken, and known: {reason}");

        Assert.That(
            result.Verdict,
            Is.EqualTo(result.Known is null ? FaultVerdict.Kept : FaultVerdict.Broken),
            () => $"{result.Because}\n{string.Join('\n', result.Violations.Select(TextOf))}");
    }

    private static async Task<IEnumerable<FaultResult>> MakeAllAsync(IReadOnlyList<Cell> cells) =>
    [
        .. await MakeAsync(cells, [.. Fault.All.Except(Slow)]),
        .. await MakeAsync([.. cells.Where(cell => AwayModes.Contains(cell.Mode))], Slow),
    ];

    private static async Task<IReadOnlyList<FaultResult>> MakeAsync(IReadOnlyList<Cell> cells, IReadOnlyList<Fault> faults)
    {
        using var folder = new TemporaryFolder();
        var plan = new FaultPlan(cells, faults, Storm: null, Speeds: null, folder.Path, "tests") { Away = TimeSpan.FromSeconds(5) };
        var run = new FaultRun(
            plan,
            (result, done, planned) => TestContext.Progress.WriteLine($"{done} of {planned}: {result.Name} {result.Verdict}"),
            TestContext.Progress.WriteLine);
        return (await run.RunAsync(CancellationToken.None)).Results;
    }

    private static string TextOf(Violation violation) => $"{violation.Because}\n  {string.Join("\n  ", violation.Evidence)}";
}
