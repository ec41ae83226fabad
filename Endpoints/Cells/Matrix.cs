using Kit.Handlers;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>The queries that make <see cref="Cell.All"/>. Each varies a few axes, and its cells have the implied values on the others.</summary>
internal static class Matrix
{
    public static IEnumerable<Cell> Cells =>
        [.. OneAtATime, .. FlushesAndReceives, .. DeadLetters, .. Distances, .. SizesAndProcesses, .. SizesOfForwardedMessages, .. KindsOfReuse];

    // Each framework on each transport, in each mode.
    private static IEnumerable<Cell> Plain =>
        from kind in EndpointKinds.All
        from mode in TransactionMode.All
        select new Cell(kind, mode);

    // Also at the other pace of polling, where a framework's default is so slow that it alone would be measured.
    private static IEnumerable<Cell> AtEachPace =>
        from plain in Plain
        from cell in (IEnumerable<Cell>)[plain, .. plain.Kind.CanPollOften ? [plain with { PollsOften = true }] : Array.Empty<Cell>()]
        select cell;

    // Conditions, scenarios and access libraries, one at a time.
    private static IEnumerable<Cell> OneAtATime =>
        from plain in AtEachPace
        from cell in (IEnumerable<Cell>)
        [
            plain,
            .. from condition in Axis.Condition.Others select plain with { Condition = condition },
            .. from scenario in Axis.Scenario.Others select plain with { Scenario = scenario },
            .. from access in Axis.Access.Others select plain with { Access = access },
        ]
        select cell;

    // Flushes and ways to receive, one at a time, because the endpoint refuses to combine them. A kind that lacks one says why.
    private static IEnumerable<Cell> FlushesAndReceives =>
        from plain in Plain
        where plain.Kind.HasSettings
        from other in (IEnumerable<Cell>)
            [.. from flush in Axis.Flush.Others select plain with { Flush = flush }, .. OtherReceives(plain)]
        from cell in WithoutAndWithSend(other)
        select cell;

    // The other moment to dead-letter, where a framework offers the choice.
    private static IEnumerable<Cell> DeadLetters =>
        from plain in Plain
        where plain.Kind.CanDeadLetterNext
        from cell in WithoutAndWithSend(plain with { DeadLettersNext = true })
        select cell;

    // Each distance with each way to receive that saves a round trip.
    private static IEnumerable<Cell> Distances =>
        from plain in AtEachPace
        from received in (IEnumerable<Cell>)[plain, .. CanReceiveInBatches(plain.Kind) ? OtherReceives(plain) : []]
        from cell in WithoutAndWithSend(received)
        from trip in Axis.RoundTrip.Others
        select cell with { RoundTrip = trip };

    // Each size with each number of processes.
    private static IEnumerable<Cell> SizesAndProcesses =>
        from plain in AtEachPace
        from cell in WithoutAndWithSend(plain)
        from size in MessageSize.All
        from processes in ProcessCount.All
        where size != MessageSize.IdAlone || processes != ProcessCount.One
        select cell with { Size = size, Processes = processes };

    // Each size of the documents that handlers forward.
    private static IEnumerable<Cell> SizesOfForwardedMessages =>
        from plain in AtEachPace
        from scenario in Scenario.All
        where scenario.Rows == 0
        from size in Axis.Size.Others
        select plain with { Scenario = scenario, Size = size };

    // What is kept of a stylesheet is a scenario of its own.
    private static IEnumerable<Cell> KindsOfReuse =>
        from plain in AtEachPace
        from scenario in (Scenario[])
            [Scenario.Insert, Scenario.InsertAndSend, Scenario.Query, Scenario.TransformXslAndQuery, Scenario.TransformOnceAndQuery]
        from reuse in Axis.Reuse.Others
        select plain with { Scenario = scenario, Reuse = reuse };

    private static IEnumerable<Cell> WithoutAndWithSend(Cell cell) => [cell, cell with { Scenario = Scenario.InsertAndSend }];

    private static IEnumerable<Cell> OtherReceives(Cell cell) =>
        [.. from size in Axis.Batch.Others select cell with { BatchSize = size }, cell with { ReceivesAhead = true }];

    private static bool CanReceiveInBatches(IEndpointKind kind) =>
        TransactionMode.All.Any(mode => kind.SupportsBatches(mode, LogFlush.Every).IsSupported);
}
