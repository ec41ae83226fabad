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
/// Every fault in the modes of the bare endpoints, as the <c>faults</c> command makes them: on servers of their own, several side by side. Each mode meets
/// each fault that has a window in it, and a slow one only in some modes. With <c>KIT_FAULTS=all</c> it meets it on both transports, otherwise on one of
/// them, and the next mode on the other. Frameworks are left to the command, and so is <c>scope-off</c> on RabbitMQ: its receive is that of <c>dtc-off</c>,
/// its handler that of PostgreSQL's <c>scope-off</c>.
/// </summary>
[Category("faults")]
[Parallelizable]
public sealed class OneFaultMeetsAMessage
{
    /// <summary>A server that is away, or silent, takes up to half a minute for each cell: the other modes are left to the command.</summary>
    private static readonly IReadOnlyList<Fault> Slow = [Fault.DatabaseAway, Fault.NetworkSilent, Fault.RestartBrokerHalfway, Fault.RestartBrokerLate];

    private static readonly IReadOnlyList<TransactionMode> AwayModes = [TransactionMode.FullDtc, TransactionMode.Outbox];

    private static readonly IReadOnlyList<TransactionMode> Modes = [.. TransactionMode.Matrix, TransactionMode.Shared, TransactionMode.Outbox];

    private static readonly bool MeetsAll = Environment.GetEnvironmentVariable("KIT_FAULTS") switch
    {
        null => false,
        "all" => true,
        var other => throw new NotSupportedException($"KIT_FAULTS is '{other}'; it can be 'all'."),
    };

    private static readonly IReadOnlyList<Cell> Cells =
    [
        .. Cell.All.Where(cell =>
            cell is
            {
                Kind.Framework: "bare", Kind.Transport: TransportName.PostgreSql or TransportName.RabbitMq, Access.Name: "ado", Support.IsSupported: true,
            }
            && cell.IsPlain && Modes.Contains(cell.Mode) && (cell.Kind.Transport, cell.Mode) != (TransportName.RabbitMq, TransactionMode.ScopeOff)
            && TestTransport.MissingServer(cell.Kind.Transport) is null),
    ];

    private static readonly IReadOnlyList<(Cell Cell, Fault Fault)> Meetings =
        [.. Fault.All.Index().SelectMany(each => PlacesOf(each.Item, each.Index))];

    private IReadOnlyList<FaultResult> results = [];

    private static IEnumerable<TestCaseData> Places =>
        Meetings.Select(meeting => new TestCaseData(meeting.Cell, meeting.Fault).SetArgDisplayNames($"{meeting.Cell}", meeting.Fault.Name));

    [OneTimeSetUp]
    public async Task MakeAllExperiments()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        // Each cell on servers of its own. One after the other: a run makes four experiments side by side, and has other fixtures next to it.
        var made = new List<FaultResult>();
        foreach (var met in Meetings.GroupBy(meeting => meeting.Cell, meeting => meeting.Fault))
            made.AddRange(await MakeAsync(met.Key, [.. met]));
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

    /// <summary>For each mode the cells in which the fault has a window, or one of them: the next mode takes the other transport.</summary>
    private static IEnumerable<(Cell Cell, Fault Fault)> PlacesOf(Fault fault, int number) => Cells
        .Where(cell => Injection.Of(fault, cell, Guid.Empty) is not NoWindow && (!Slow.Contains(fault) || AwayModes.Contains(cell.Mode)))
        .GroupBy(cell => cell.Mode)
        // First those with one transport, so that the others alternate.
        .OrderBy(mode => mode.Count())
        .SelectMany((mode, place) => mode.Where((_, index) => MeetsAll || index == (number + place) % mode.Count()).Select(cell => (cell, fault)));

    private static async Task<IReadOnlyList<FaultResult>> MakeAsync(Cell cell, IReadOnlyList<Fault> faults)
    {
        using var folder = new TemporaryFolder();
        var plan = new FaultPlan([cell], faults, Storm: null, Speeds: null, folder.Path, "tests") { Away = TimeSpan.FromSeconds(5) };
        var run = new FaultRun(
            plan,
            (result, done, planned) => TestContext.Progress.WriteLine($"{done} of {planned}: {result.Name} {result.Verdict}"),
            TestContext.Progress.WriteLine);
        return (await run.RunAsync(CancellationToken.None)).Results;
    }

    private static string TextOf(Violation violation) => $"{violation.Because}\n  {string.Join("\n  ", violation.Evidence)}";
}
