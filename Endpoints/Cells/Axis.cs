using System.Globalization;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>
/// One dimension of the matrix: its name, its values, those that are measured by default, and the cells that it rules out. The command line, documents,
/// tables and comparisons read the list of <see cref="All"/>.
/// </summary>
public abstract class Axis
{
    private const string Apart = "apart";
    private const string AtOnce = "at-once";
    private const string AtDefault = "default-polling";

    private protected Axis(string name, string plural) => (Name, Plural) = (name, plural);

    /// <summary>The framework that calls the handler.</summary>
    public static Axis<string> Framework { get; } = new(
        AxisName.Framework, "frameworks", NamesOf(kind => kind.Framework), name => name, cell => cell.Kind.Framework)
    {
        Rule = _ => Support.Yes,
    };

    /// <summary>The transport that holds the messages.</summary>
    public static Axis<string> Transport { get; } = new(
        AxisName.Transport, "transports", NamesOf(kind => kind.Transport), name => name, cell => cell.Kind.Transport)
    {
        // It compares two servers with one, and answers no question about frameworks.
        Measured = [.. NamesOf(kind => kind.Transport).Where(name => name != TransportName.PostgreSqlApart)],
        Rule = _ => Support.Yes,
    };

    /// <summary>The transaction mode.</summary>
    public static Axis<TransactionMode> Mode { get; } = new(
        AxisName.Mode, "modes", TransactionMode.All, mode => mode.Name, cell => cell.Mode)
    {
        Measured = [.. TransactionMode.Matrix.Select(mode => mode.Name)],
        Rule = cell => cell.Kind.Supports(cell.Mode),
    };

    /// <summary>The library that writes the row. Modes are compared with the baseline.</summary>
    public static Axis<AccessLibrary> Access { get; } = new(
        AxisName.Access, "access libraries", AccessLibrary.All, access => access.Name, cell => cell.Access)
    {
        Measured = [AccessLibrary.Baseline],
        Rule = cell => cell.Access.NeedsPostgreSql && cell.Kind.WidgetServer != WidgetServer.PostgreSql
            ? Support.No($"the access library '{cell.Access.Name}' is set up for widgets in PostgreSQL")
            : cell.Access.Support,
    };

    /// <summary>The commits that wait for the database's log.</summary>
    public static Axis<LogFlush> Flush { get; } = new(
        AxisName.Flush, "settings of the log's flush", LogFlush.All, flush => flush.Name, cell => cell.Flush)
    {
        Implied = LogFlush.Every.Name,
        Rule = cell => cell.Kind.Supports(cell.Mode, cell.Flush),
    };

    /// <summary>The messages that are received at once.</summary>
    public static Axis<int> Batch { get; } = new(
        AxisName.Batch, "batch sizes", [1, 10, 50], size => size.ToString(CultureInfo.InvariantCulture), cell => cell.BatchSize)
    {
        Implied = "1",
        Rule = cell => cell.BatchSize == 1 ? Support.Yes : cell.Kind.SupportsBatches(cell.Mode, cell.Flush),
    };

    /// <summary>The round trip that receives: one of its own, or that of the commit before.</summary>
    public static Axis<bool> Receive { get; } = new(
        "receive", "ways to receive", [false, true], isAhead => isAhead ? "ahead" : Apart, cell => cell.ReceivesAhead)
    {
        Implied = Apart,
        Rule = cell => cell.ReceivesAhead ? cell.Kind.SupportsReceivingAhead(cell.Mode, cell.Flush, cell.BatchSize) : Support.Yes,
    };

    /// <summary>The moment at which a message is moved to the error queue: within its last attempt, or when it is received once more.</summary>
    public static Axis<bool> DeadLetter { get; } = new(
        AxisName.DeadLetter, "ways to dead-letter", [false, true], isNext => isNext ? "next-delivery" : AtOnce, cell => cell.DeadLettersNext)
    {
        Implied = AtOnce,
        Rule = cell => !cell.DeadLettersNext || cell.Kind.CanDeadLetterNext ? Support.Yes : Support.No("only Rebus offers the choice"),
    };

    /// <summary>
    /// The pace at which a queue in a database is asked for messages: that of the cell's kind, or a shorter pause and more messages. It is the framework's
    /// default, except on Rebus, whose pauses are the kit's; the <c>outbox</c> of Wolverine on RabbitMQ has the kit's limits of memory.
    /// </summary>
    public static Axis<bool> Polling { get; } = new(
        AxisName.Polling, "paces of polling", [false, true], isOften => isOften ? "often" : AtDefault, cell => cell.PollsOften)
    {
        Implied = AtDefault,
        // At Wolverine's default a round of 10,000 messages takes 42 minutes.
        Measures = cell => cell.PollsOften == cell.Kind.CanPollOften,
        Rule = cell => !cell.PollsOften || cell.Kind.CanPollOften ? Support.Yes : Support.No("only Wolverine on PostgreSQL has a second row for it"),
    };

    /// <summary>The work of the handler. Unless a scenario is named, experiments with faults have a handler of their own.</summary>
    public static Axis<Scenario> Scenario { get; } = new(
        AxisName.Scenario, "scenarios", Kit.Handlers.Scenario.All, scenario => scenario.Name, cell => cell.Scenario)
    {
        Implied = Kit.Handlers.Scenario.Insert.Name,
        IsOfRounds = true,
        Rule = cell => cell.Scenario.NeedsPostgreSql && cell.Kind.WidgetServer != WidgetServer.PostgreSql
            ? Support.No($"the scenario '{cell.Scenario.Name}' is written for widgets in PostgreSQL")
            : cell.Scenario.IsPublisher ? cell.Kind.SupportsEvents
            : Support.Yes,
    };

    /// <summary>The difference of a round.</summary>
    public static Axis<Condition> Condition { get; } = new(
        "condition", "conditions", Cells.Condition.All, condition => condition.Name, cell => cell.Condition)
    {
        Implied = Cells.Condition.Plain.Name,
        IsOfRounds = true,
        Rule = cell => cell.Condition.SupportOn(cell.Kind),
    };

    /// <summary>The distance of the endpoint from its servers.</summary>
    public static Axis<RoundTripTime> RoundTrip { get; } = new(
        AxisName.RoundTrip, "round-trip times", RoundTripTime.All, trip => trip.Name, cell => cell.RoundTrip)
    {
        Implied = RoundTripTime.Direct.Name,
        IsOfRounds = true,
        Rule = cell => cell.RoundTrip.Added is null
            || cell.Kind.Transport is TransportName.PostgreSql or TransportName.PostgreSqlApart or TransportName.RabbitMq
            ? Support.Yes
            : Support.No($"the round-trip time '{cell.RoundTrip.Name}' needs the kit's proxy, which forwards to PostgreSQL and RabbitMQ"),
    };

    /// <summary>The size of the messages.</summary>
    public static Axis<MessageSize> Size { get; } = new(
        AxisName.Size, "sizes of messages", MessageSize.All, size => size.Name, cell => cell.Size)
    {
        Implied = MessageSize.IdAlone.Name,
        Read = MessageSize.Read,
        IsOfRounds = true,
        Rule = _ => Support.Yes,
    };

    /// <summary>The processes that share the queue.</summary>
    public static Axis<ProcessCount> Processes { get; } = new(
        AxisName.Processes, "numbers of processes", ProcessCount.All, processes => processes.Name, cell => cell.Processes)
    {
        Implied = ProcessCount.One.Name,
        Typed = ProcessCount.Typed,
        IsOfRounds = true,
        Rule = cell => cell.Processes.SupportOn(cell.Kind),
    };

    /// <summary>The messages that a process handles at a time. Any number can be measured, so none is listed: the run multiplies its cells.</summary>
    public static Axis<HandlerLimits> Handlers { get; } = new(
        AxisName.Handlers, "numbers of handlers", [HandlerLimits.OfTheRun], limits => limits.HandlersName, cell => cell.Limits)
    {
        Implied = HandlerLimits.OfTheRun.HandlersName,
        IsOfRounds = true,
        Rule = _ => Support.Yes,
    };

    /// <summary>The connections to the widgets' database that the handlers share. Any number can be measured, as of <see cref="Handlers"/>.</summary>
    public static Axis<HandlerLimits> Pool { get; } = new(
        AxisName.Pool, "sizes of the pool", [HandlerLimits.OfTheRun], limits => limits.ConnectionsName, cell => cell.Limits)
    {
        Implied = HandlerLimits.OfTheRun.ConnectionsName,
        IsOfRounds = true,
        Rule = cell => cell.Limits.SupportOn(cell.Kind),
    };

    /// <summary>The things that are built once, or for each message.</summary>
    public static Axis<Reuse> Reuse { get; } = new("reuse", "kinds of reuse", Cells.Reuse.All, reuse => reuse.Name, cell => cell.Reuse)
    {
        Implied = Cells.Reuse.Static.Name,
        IsOfRounds = true,
        Rule = cell => cell.Reuse.SupportOf(cell.Kind, cell.Mode),
    };

    /// <summary>All axes, in the order in which names and tables have them.</summary>
    public static IReadOnlyList<Axis> All { get; } =
    [
        Framework, Transport, Mode, Access, Flush, Batch, Receive, DeadLetter, Polling, Scenario, Condition, RoundTrip, Size, Processes, Handlers, Pool, Reuse,
    ];

    /// <summary>Its name in options and documents: <c>transport</c>.</summary>
    public string Name { get; }

    /// <summary>The plural, for use in a sentence.</summary>
    public string Plural { get; }

    /// <summary>
    /// The value that a cell's name leaves out. Every cell had it before the axis existed, so stored results keep the names of their cells;
    /// <see langword="null"/> if names always include the value.
    /// </summary>
    public string? Implied { get; init; }

    /// <summary>The values that are measured unless others are named; <see langword="null"/> for all.</summary>
    public IReadOnlyList<string>? Measured { get => field ?? (Implied is null ? null : [Implied]); init; }

    /// <summary>True if a cell's value on it is measured unless others are named.</summary>
    public Func<Cell, bool> Measures { get => field ?? (cell => Measured?.Contains(ValueOf(cell)) != false); init; }

    /// <summary>A value as the option of this axis has it.</summary>
    public Func<string, string> Typed { get; init; } = value => value;

    /// <summary>Typed text as the option of this axis has it: some values can also be typed in another way.</summary>
    public Func<string, string> Read { get; init; } = typed => typed;

    /// <summary>
    /// Only measured rounds differ on it. Experiments with faults have conditions of their own, and a handler unless a scenario is named.
    /// </summary>
    public bool IsOfRounds { get; init; }

    /// <summary>Support for a cell's value on this axis, given its other values.</summary>
    public required Func<Cell, Support> Rule { get; init; }

    /// <summary>All values, in the order of the cells, as names and documents have them.</summary>
    public abstract IReadOnlyList<string> Values { get; }

    /// <summary>An axis with one value is not shown.</summary>
    public bool IsShown => Values.Count > 1;

    /// <summary>The cell's value on it, as names and documents have it.</summary>
    public abstract string ValueOf(Cell cell);

    public bool HasImplied(Cell cell) => string.Equals(ValueOf(cell), Implied, StringComparison.Ordinal);

    private static string[] NamesOf(Func<IEndpointKind, string> nameOf) => [.. EndpointKinds.All.Select(nameOf).Distinct(StringComparer.Ordinal)];
}

/// <summary>An axis with its values.</summary>
public sealed class Axis<T>(string name, string plural, IReadOnlyList<T> values, Func<T, string> nameOf, Func<Cell, T> valueOf)
    : Axis(name, plural)
{
    public override IReadOnlyList<string> Values { get; } = [.. values.Select(nameOf)];

    /// <summary>The values that are measured only when they are named.</summary>
    internal IEnumerable<T> Others => values.Where(value => Measured?.Contains(nameOf(value)) == false);

    public override string ValueOf(Cell cell) => nameOf(valueOf(cell));
}
