using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;

namespace Kit.Tests.Contract;

/// <summary>One situation of the contract, for one cell.</summary>
[Parallelizable]
public abstract class ContractTest(Cell cell)
{
    private CellBench bench = null!;

    protected Cell Cell { get; } = cell;

    protected private CellBench Bench => bench;

    /// <summary>How many queues subscribe to what the handler publishes; <see langword="null"/>: it publishes nothing.</summary>
    protected virtual int? Subscribers => null;

    /// <summary>How many queues wait for replies; <see langword="null"/>: the handler replies to nobody.</summary>
    protected virtual int? Requesters => null;

    [SetUp]
    public async Task SetUp()
    {
        if (Subscribers is not null && Cell.Kind.SupportsEvents.Because is { } reason)
            Assert.Ignore($"{Cell.Kind.Framework} on {Cell.Kind.Transport}: {reason}.");

        bench = await CellBench.CreateAsync(Cell, subscribers: Subscribers, requesters: Requesters);
    }

    [TearDown]
    public async Task TearDown()
    {
        if (bench is not null)
            await bench.DisposeAsync();
    }

    /// <summary>
    /// The mode's promise. Where Rebus dead-letters at once, it commits the receive with the work of the last attempt: its sends, and in <c>shared</c> its
    /// row. In no other situation is a cell known to break the promise without a crash.
    /// </summary>
    protected Expectation Expected(Situation situation)
    {
        var promised = Expectation.Of(Cell.Mode, situation);
        return (situation, Cell) switch
        {
            (Situation.AlwaysThrowsAfterInsert, { Kind.Framework: "rebus", DeadLettersNext: false, Mode.RowCommit: RowCommit.WithReceive }) =>
                promised with { Rows = 1 },
            (Situation.CommitIsAlwaysRefused, { Kind.Framework: "rebus", DeadLettersNext: false, Mode.RowCommit: RowCommit.Once }) =>
                promised with { Sent = 1 },
            // With raw JSON, MassTransit reads any body as the message of the consumer.
            (Situation.OfUnknownType, { Kind.Framework: "masstransit" }) => Expectation.Of(Cell.Mode, Situation.HandlerSucceeds),
            _ => promised,
        };
    }

    /// <summary>Of two workers the other one can have the message once more before a failure is counted, in a mode that counts late.</summary>
    protected int MostAttempts(int expected) => MostAttempts(expected, countsLate: Cell.Kind.CountsAfterRollback(Cell.Mode));

    /// <summary>Handles one message in a situation and compares what is there afterwards with what the mode promises.</summary>
    protected async Task Expect(Situation situation) => await Expect(situation, await Bench.SendAsync(situation));

    /// <summary>Handles a message that was sent and compares what is there afterwards with what the mode promises in a situation.</summary>
    protected async Task Expect(Situation situation, Guid message)
    {
        await Bench.DrainAsync();

        var expected = Expected(situation);
        var observed = await Bench.ObserveAsync(message);
        Assert.That(observed with { Attempts = expected.Attempts }, Is.EqualTo(expected));
        // Where the sends are in the transaction of the receive, a refused commit has rolled back the receive.
        var countsLate = Cell.Kind.CountsAfterRollback(Cell.Mode)
            || (situation, Cell.Mode.RowCommit) is (Situation.CommitIsAlwaysRefused, RowCommit.WithReceive or RowCommit.InTwoPhases);
        Assert.That(observed.Attempts, Is.InRange(expected.Attempts, MostAttempts(expected.Attempts, countsLate)), $"attempts on {Cell.Name}");
        Assert.That(await Bench.CountPreparedAsync(), Is.Zero, "prepared transactions left");
    }

    private static int MostAttempts(int expected, bool countsLate) => countsLate && expected > 1 ? expected + 1 : expected;
}
