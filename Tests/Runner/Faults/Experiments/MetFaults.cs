using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Faults.Experiments;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage;

namespace Kit.Tests.Faults.Experiments;

/// <summary>
/// Faults in the modes of the bare endpoints, as the <c>faults</c> command makes them, on servers of their own. Frameworks are left to the command, and so is
/// <c>scope-off</c> on RabbitMQ: its receive is that of <c>dtc-off</c>, its handler that of PostgreSQL's <c>scope-off</c>.
/// </summary>
internal static class MetFaults
{
    private const int Tries = 3;

    private static readonly IReadOnlyList<TransactionMode> Modes = [.. TransactionMode.Matrix, TransactionMode.Shared, TransactionMode.Outbox];

    public static IReadOnlyList<Cell> Cells { get; } =
    [
        .. Cell.All.Where(cell =>
            cell is
            {
                Kind.Framework: "bare", Kind.Transport: TransportName.PostgreSql or TransportName.RabbitMq, Access.Name: "ado", Support.IsSupported: true,
            }
            && cell.IsPlain && Modes.Contains(cell.Mode) && (cell.Kind.Transport, cell.Mode) != (TransportName.RabbitMq, TransactionMode.ScopeOff)
            && TestTransport.MissingServer(cell.Kind.Transport) is null),
    ];

    /// <summary>A server that is away, or silent, takes up to half a minute for each cell.</summary>
    public static bool IsSlow(Fault fault) =>
        fault == Fault.DatabaseAway || fault == Fault.NetworkSilent || fault == Fault.RestartBrokerHalfway || fault == Fault.RestartBrokerLate;

    public static TestCaseData CaseOf((Cell Cell, Fault Fault) meeting) =>
        new TestCaseData(meeting.Cell, meeting.Fault).SetArgDisplayNames($"{meeting.Cell}", meeting.Fault.Name);

    /// <summary>How a fault is brought about in a cell; <see cref="NoWindow"/>: not at all. Those that a handler causes differ only in its script.</summary>
    public static Type KindOf(Cell cell, Fault fault) => Injection.Of(fault, cell, Guid.Empty) is var injection && injection is InHandler
        ? typeof(InHandler)
        : injection.GetType();

    /// <summary>
    /// Makes the experiments as commands would, on servers of their own. One whose fault came too late or too early, as on a busy machine, shows nothing,
    /// and is made again.
    /// </summary>
    public static async Task<IReadOnlyList<FaultResult>> MakeAsync(IReadOnlyList<(Cell Cell, Fault Fault)> meetings)
    {
        var results = await TryAsync(meetings);
        for (var attempt = 2; attempt <= Tries; attempt++)
        {
            IReadOnlyList<(Cell Cell, Fault Fault)> again =
                [.. meetings.Where(meeting => ResultOf(results, meeting.Cell, meeting.Fault).Verdict is FaultVerdict.Void)];
            if (again.Count == 0)
                break;
            results = [.. results.Where(result => result.Verdict is not FaultVerdict.Void), .. await TryAsync(again)];
        }

        return results;
    }

    private static async Task<IReadOnlyList<FaultResult>> TryAsync(IReadOnlyList<(Cell Cell, Fault Fault)> meetings)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        using var folder = new TemporaryFolder();
        Cell[] cells = [.. meetings.Select(meeting => meeting.Cell).Distinct()];
        Fault[] faults = [.. meetings.Select(meeting => meeting.Fault).Distinct()];
        var plan = new FaultPlan(cells, faults, Storm: null, Speeds: null, folder.Path, "tests")
        {
            Meets = (cell, fault) => meetings.Contains((cell, fault)),
            Away = TimeSpan.FromSeconds(5),
        };
        var run = new FaultRun(
            plan,
            (result, done, planned) => TestContext.Progress.WriteLine($"{done} of {planned}: {result.Name} {result.Verdict}"),
            TestContext.Progress.WriteLine);
        return (await run.RunAsync(CancellationToken.None)).Results;
    }

    public static void AssertKept(IEnumerable<FaultResult> results, Cell cell, Fault fault)
    {
        var result = ResultOf(results, cell, fault);

        foreach (var line in result.Fired.Concat(result.Evidence))
            TestContext.Out.WriteLine(line);
        if (result.Known is { } reason)
            TestContext.Out.WriteLine($"Broken, and known: {reason}");

        Assert.That(
            result.Verdict,
            Is.EqualTo(result.Known is null ? FaultVerdict.Kept : FaultVerdict.Broken),
            () => $"{result.Because}\n{string.Join('\n', result.Violations.Select(TextOf))}");
    }

    public static FaultResult ResultOf(IEnumerable<FaultResult> results, Cell cell, Fault fault) =>
        results.Single(one => one.Cell == Provenance.NameOf(cell) && one.Fault == fault.Name);

    private static string TextOf(Violation violation) => $"{violation.Because}\n  {string.Join("\n  ", violation.Evidence)}";
}
