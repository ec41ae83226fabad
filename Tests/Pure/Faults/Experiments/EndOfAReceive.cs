using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Faults.Injections;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Tests.Faults.Experiments;

/// <summary>The moment that a fault takes for the end of a receive, held against the published points of each cell whose receive is a transaction.</summary>
public sealed class EndOfAReceive
{
    private static readonly IReadOnlyDictionary<string, IReadOnlyList<CrashPoint>> Recorded =
        new FaultFolder(Path.Combine(RepositoryFiles.Root, "results", "2026-11-27-2678292-points")).LoadDocument().Points!;

    private static IEnumerable<Cell> Cells =>
        from name in Recorded.Keys
        let cell = Cell.Find(name.Replace('/', '.'))
        where cell is not null && !Transport.Of(cell).IsBroker && cell.Mode.CommitOrder.IsMessageLeftInHandler
            // The driver's two-phase commit ends it with a statement outside the transaction.
            && cell.Mode != TransactionMode.NpgsqlScope
        select cell;

    [TestCaseSource(nameof(Cells))]
    public void Is_the_last_request_of_the_transaction_that_took_the_message(Cell cell)
    {
        var points = Recorded[cell.Name.Replace('.', '/')];
        var receive = points.First(point => MarkedRequest.HasDeleted(point.Request.Outcome)).Number;
        var moment = OnTheWire.EndOfReceive(cell, Guid.Empty);

        var met = points.Where(point => point.Request.Text == moment.Text && (!moment.EndsReceive || HasDeleted(point)));

        Assert.That(met.First().Number, Is.EqualTo(points.Last(point => point.Leading.Contains(receive)).Number), $"{moment}");

        bool HasDeleted(CrashPoint point) =>
            points.Any(before => point.Leading.Contains(before.Number) && MarkedRequest.HasDeleted(before.Request.Outcome));
    }

    [TestCase("DELETE 1", true)]
    [TestCase("DELETE 0", false)]
    [TestCase("INSERT 0 1", false)]
    [TestCase(null, false)]
    public void Is_after_a_row_has_left_the_queue(string? outcome, bool hasDeleted) =>
        Assert.That(MarkedRequest.HasDeleted(outcome), Is.EqualTo(hasDeleted));
}
