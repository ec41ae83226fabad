using System.Globalization;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Cells;

/// <summary>What one row of a comparison measures: a value on each axis of the matrix.</summary>
public sealed record Cell(IEndpointKind Kind, TransactionMode Mode, AccessLibrary Access, Scenario Scenario, Condition Condition)
{
    /// <summary>The name of the axis that says what calls the handler.</summary>
    public const string FrameworkAxis = "framework";

    /// <summary>The name of the axis that says what holds the messages.</summary>
    public const string TransportAxis = "transport";

    /// <summary>The name of the axis that says what the handler does.</summary>
    public const string ScenarioAxis = "scenario";

    /// <summary>The name of the axis that says what is different in a round.</summary>
    public const string ConditionAxis = "condition";

    /// <summary>The name of the axis that says which commits wait for the log.</summary>
    public const string FlushAxis = "flush";

    /// <summary>The name of the axis that says how many messages are received at once.</summary>
    public const string BatchAxis = "batch";

    /// <summary>The name of the axis that says which round trip receives.</summary>
    public const string ReceiveAxis = "receive";

    /// <summary>The name of the axis that says how far the endpoint is from its servers.</summary>
    public const string RoundTripAxis = "rtt";

    /// <summary>The name of the axis that says how large messages are.</summary>
    public const string SizeAxis = "size";

    /// <summary>The name of the axis that says how many processes share the queue.</summary>
    public const string ProcessesAxis = "processes";

    /// <summary>The name of the axis that says how many messages a process handles at a time.</summary>
    public const string HandlersAxis = "handlers";

    /// <summary>The name of the axis that says how many connections to the widgets' database the handlers share.</summary>
    public const string PoolAxis = "pool";

    /// <summary>The name of the axis that says what is built once, or for each message.</summary>
    public const string ReuseAxis = "reuse";

    private const int OneAtATime = 1;
    private const string Apart = "apart";
    private const string Ahead = "ahead";

    private static readonly int[] BatchSizes = [OneAtATime, 10, 50];

    // The three are not combined: the endpoint refuses that.
    private static readonly (LogFlush Flush, int BatchSize, bool Ahead)[] Settings =
    [
        .. from flush in LogFlush.All where flush != LogFlush.Every select (flush, OneAtATime, false),
        .. from batch in BatchSizes where batch != OneAtATime select (LogFlush.Every, batch, false),
        (LogFlush.Every, OneAtATime, true),
    ];

    // Those that save round trips, and the default. Flushes have none.
    private static readonly (int BatchSize, bool Ahead)[] Receives =
        [(OneAtATime, false), .. from setting in Settings where setting.Flush == LogFlush.Every select (setting.BatchSize, setting.Ahead)];

    /// <summary>The axes, in the order in which names and tables have them. A new one is an entry here, and its values in <see cref="All"/>.</summary>
    public static IReadOnlyList<Axis> Axes { get; } =
    [
        new(FrameworkAxis, "frameworks", cell => cell.Kind.Framework) { Rule = _ => Support.Yes },
        new(TransportAxis, "transports", cell => cell.Kind.Transport) { Rule = _ => Support.Yes },
        // The comparison modes are measured only when they are named.
        new("mode", "modes", cell => cell.Mode.Name)
        {
            Measured = [.. TransactionMode.Matrix.Select(mode => mode.Name)],
            Rule = cell => cell.Kind.Supports(cell.Mode),
        },
        // Modes are compared with the baseline. Other access libraries are measured only when they are named.
        new("access", "access libraries", cell => cell.Access.Name)
        {
            Measured = [AccessLibrary.Baseline],
            Rule = cell => cell.Access.NeedsPostgreSql && cell.Kind.Widgets != WidgetServer.PostgreSql
                ? Support.No($"the access library '{cell.Access.Name}' is set up for widgets in PostgreSQL")
                : cell.Access.Support,
        },
        // Fewer flushes are measured when they are named.
        new(FlushAxis, "settings of the log's flush", cell => cell.Flush.Name)
        {
            Measured = [LogFlush.Every.Name],
            Implied = LogFlush.Every.Name,
            Rule = cell => cell.Kind.Supports(cell.Mode, cell.Flush),
        },
        // Batches are measured when they are named.
        new(BatchAxis, "batch sizes", cell => NameOf(cell.BatchSize))
        {
            Measured = [NameOf(OneAtATime)],
            Implied = NameOf(OneAtATime),
            Rule = cell => cell.BatchSize == OneAtATime ? Support.Yes : cell.Kind.SupportsBatches(cell.Mode, cell.Flush),
        },
        // Receives in the round trip of the commit before them are measured when they are named.
        new(ReceiveAxis, "ways to receive", cell => cell.ReceivesAhead ? Ahead : Apart)
        {
            Measured = [Apart],
            Implied = Apart,
            Rule = cell => cell.ReceivesAhead ? cell.Kind.SupportsReceivingAhead(cell.Mode, cell.Flush, cell.BatchSize) : Support.Yes,
        },
        // What the handler does. Scenarios are compared when they are named; unless one is, experiments with faults have a handler of their own.
        new(ScenarioAxis, "scenarios", cell => cell.Scenario.Name)
        {
            Measured = [Scenario.Insert.Name],
            Implied = Scenario.Insert.Name,
            IsOfRounds = true,
            Rule = cell => cell.Scenario.NeedsPostgreSql && cell.Kind.Widgets != WidgetServer.PostgreSql
                ? Support.No($"the scenario '{cell.Scenario.Name}' is written for widgets in PostgreSQL")
                : Support.Yes,
        },
        // Other conditions are measured only when they are named.
        new(ConditionAxis, "conditions", cell => cell.Condition.Name)
        {
            Measured = [Condition.Plain.Name],
            Implied = Condition.Plain.Name,
            IsOfRounds = true,
            Rule = cell => cell.Condition.SupportOn(cell.Kind),
        },
        // Distances are measured only when they are named.
        new(RoundTripAxis, "round-trip times", cell => cell.RoundTrip.Name)
        {
            Measured = [RoundTripTime.Direct.Name],
            Implied = RoundTripTime.Direct.Name,
            IsOfRounds = true,
            Rule = cell => cell.RoundTrip.SupportOn(cell.Kind),
        },
        // Larger messages are measured only when they are named.
        new(SizeAxis, "sizes of messages", cell => cell.Size.Name)
        {
            Measured = [MessageSize.IdAlone.Name],
            Implied = MessageSize.IdAlone.Name,
            Read = MessageSize.Read,
            IsOfRounds = true,
            Rule = _ => Support.Yes,
        },
        // Several processes are measured only when they are named.
        new(ProcessesAxis, "numbers of processes", cell => cell.Processes.Name)
        {
            Measured = [ProcessCount.One.Name],
            Implied = ProcessCount.One.Name,
            Typed = ProcessCount.Typed,
            IsOfRounds = true,
            Rule = cell => cell.Processes.SupportOn(cell.Kind),
        },
        // Any number can be measured, so no list has them: the run multiplies its cells.
        new(HandlersAxis, "numbers of handlers", cell => cell.Limits.HandlersName)
        {
            Implied = HandlerLimits.OfTheRun.HandlersName,
            IsOfRounds = true,
            Rule = _ => Support.Yes,
        },
        new(PoolAxis, "sizes of the pool", cell => cell.Limits.ConnectionsName)
        {
            Implied = HandlerLimits.OfTheRun.ConnectionsName,
            IsOfRounds = true,
            Rule = cell => cell.Limits.SupportOn(cell.Kind),
        },
        // What is built for each message is measured when it is named.
        new(ReuseAxis, "kinds of reuse", cell => cell.Reuse.Name)
        {
            Measured = [Reuse.Static.Name],
            Implied = Reuse.Static.Name,
            IsOfRounds = true,
            Rule = cell => cell.Reuse.SupportOf(cell.Kind, cell.Mode),
        },
    ];

    /// <summary>
    /// Every cell that can be named, runnable or not. Access libraries, scenarios, conditions, flushes, batches, ways to receive, round-trip times, sizes
    /// and numbers of processes are compared one at a time, except that each of the last six also has the scenario that sends, each batch and way to
    /// receive has every round-trip time, each size has every number of processes, and each scenario without a row has every size. Every cell also has
    /// any <see cref="Limits"/>.
    /// </summary>
    public static IReadOnlyList<Cell> All { get; } =
    [
        .. from kind in EndpointKinds.All
           from mode in TransactionMode.All
           from access in AccessLibrary.All
           from scenario in Scenario.All
           from condition in Condition.All
           where access.Name == AccessLibrary.Baseline || (scenario == Scenario.Insert && condition == Condition.Plain)
           where scenario == Scenario.Insert || condition == Condition.Plain
           select new Cell(kind, mode, access, scenario, condition),
        .. from kind in EndpointKinds.All
           // Other kinds have no such settings; RabbitMQ says why.
           where kind is BareOnPostgreSql or BareOnRabbitMq
           from mode in TransactionMode.All
           from setting in Settings
           from scenario in new[] { Scenario.Insert, Scenario.InsertAndSend }
           select new Cell(kind, mode, Baseline, scenario, Condition.Plain)
           {
               Flush = setting.Flush,
               BatchSize = setting.BatchSize,
               ReceivesAhead = setting.Ahead,
           },
        .. from kind in EndpointKinds.All
           from mode in TransactionMode.All
           from receive in kind is BareOnPostgreSql ? Receives : Receives[..1]
           from scenario in new[] { Scenario.Insert, Scenario.InsertAndSend }
           from trip in RoundTripTime.All
           where trip != RoundTripTime.Direct
           select new Cell(kind, mode, Baseline, scenario, Condition.Plain)
           {
               BatchSize = receive.BatchSize,
               ReceivesAhead = receive.Ahead,
               RoundTrip = trip,
           },
        .. from kind in EndpointKinds.All
           from mode in TransactionMode.All
           from scenario in new[] { Scenario.Insert, Scenario.InsertAndSend }
           from size in MessageSize.All
           from processes in ProcessCount.All
           where size != MessageSize.IdAlone || processes != ProcessCount.One
           select new Cell(kind, mode, Baseline, scenario, Condition.Plain) { Size = size, Processes = processes },
        .. from kind in EndpointKinds.All
           from mode in TransactionMode.All
           from scenario in Scenario.All
           from size in MessageSize.All
           where scenario.Rows == 0 && size != MessageSize.IdAlone
           select new Cell(kind, mode, Baseline, scenario, Condition.Plain) { Size = size },
        .. from kind in EndpointKinds.All
           from mode in TransactionMode.All
           // What is kept of a stylesheet is a scenario of its own.
           from scenario in new[] { Scenario.Insert, Scenario.InsertAndSend, Scenario.Query, Scenario.TransformXslAndQuery, Scenario.TransformOnceAndQuery }
           from reuse in Reuse.All
           where reuse != Reuse.Static
           select new Cell(kind, mode, Baseline, scenario, Condition.Plain) { Reuse = reuse },
    ];

    private static Dictionary<string, Cell> ByName => field ??= All.ToDictionary(cell => cell.Name, StringComparer.Ordinal);

    private static AccessLibrary Baseline => AccessLibrary.All.Single(access => access.Name == AccessLibrary.Baseline);

    /// <summary>Which commits wait for the database's log.</summary>
    public LogFlush Flush { get; init; } = LogFlush.Every;

    /// <summary>How many messages are received at once.</summary>
    public int BatchSize { get; init; } = OneAtATime;

    /// <summary>Whether a commit also receives the next message.</summary>
    public bool ReceivesAhead { get; init; }

    /// <summary>How far its endpoint is from its servers.</summary>
    public RoundTripTime RoundTrip { get; init; } = RoundTripTime.Direct;

    /// <summary>How large its messages are.</summary>
    public MessageSize Size { get; init; } = MessageSize.IdAlone;

    /// <summary>How many processes receive from its queue.</summary>
    public ProcessCount Processes { get; init; } = ProcessCount.One;

    /// <summary>What is built once, or for each message.</summary>
    public Reuse Reuse { get; init; } = Reuse.Static;

    /// <summary>How many handlers a process of it has, and how many connections they share.</summary>
    public HandlerLimits Limits { get; init; } = HandlerLimits.OfTheRun;

    /// <summary>Whether its name leaves out every value that a name can leave out.</summary>
    public bool IsPlain => Axes.All(axis => axis.Implied is null || axis.HasImplied(this));

    /// <summary>
    /// Whether experiments with their own handler know it: it has the implied value on each axis that only measured rounds know.
    /// </summary>
    public bool IsOfExperiments => Axes.All(axis => !axis.IsOfRounds || axis.HasImplied(this));

    /// <summary>This cell as it is probed: with the implied values on the axes that only measured rounds know, and its own limits.</summary>
    public Cell Plain => this with
    {
        Scenario = Scenario.Insert,
        Condition = Condition.Plain,
        RoundTrip = RoundTripTime.Direct,
        Size = MessageSize.IdAlone,
        Processes = ProcessCount.One,
        Reuse = Reuse.Static,
    };

    /// <summary>Whether the cell can run, or the first reason why not.</summary>
    public Support Support => Axes.Select(axis => axis.Rule(this)).FirstOrDefault(support => !support.IsSupported) ?? Support.Yes;

    /// <summary>The axes in its name, with its values on them.</summary>
    public IEnumerable<(string Axis, string Value)> Values =>
        from axis in Axes
        let value = axis.ValueOf(this)
        where !string.Equals(value, axis.Implied, StringComparison.Ordinal)
        select (axis.Name, value);

    /// <summary>Its values in one text, for names of files and processes.</summary>
    public string Name => string.Join('.', Values.Select(value => value.Value));

    /// <summary>The cell of a name; <see langword="null"/> if there is none. It can have limits that no cell of <see cref="All"/> has.</summary>
    /// <param name="name">As <see cref="Name"/> writes it.</param>
    public static Cell? Find(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        var (limits, others) = HandlerLimits.Read(name.Split('.'));
        return ByName.GetValueOrDefault(string.Join('.', others)) is { } cell ? cell with { Limits = limits } : null;
    }

    /// <summary>Creates the handler that is measured.</summary>
    /// <param name="queue">The queue that it receives from.</param>
    public HandleMessage CreateHandler(string queue) => Reuse == Reuse.Static ? CreateOne(queue) : async (message, context, cancellationToken) =>
    {
        await using var services = new ServiceCollection().AddSingleton(_ => CreateOne(queue)).BuildServiceProvider();
        await services.GetRequiredService<HandleMessage>()(message, context, cancellationToken);
    };

    /// <summary>The queue that a handler sends to.</summary>
    /// <param name="queue">The one that it receives from.</param>
    public static string SinkOf(string queue) => $"{queue}-sink";

    /// <summary>All queues that its handler sends to, or that have subscribed to what it publishes.</summary>
    /// <param name="queue">The one that it receives from.</param>
    public IReadOnlyList<string> SinksOf(string queue) =>
        [.. Enumerable.Range(0, Scenario.Sinks).Select(index => Scenario.SinkAt(index, SinkOf(queue)))];

    /// <summary>A message with an id of its own, of this cell's size, and with the document that its scenario needs.</summary>
    public BuildWidget NewMessage() => NewMessage(Guid.CreateVersion7());

    /// <summary>The same with a given id.</summary>
    public BuildWidget NewMessage(Guid id) => Scenario.Document is { } write
        ? new BuildWidget(id) { Document = write(id, Size.Letters) }
        : Size.NewMessage() with { MessageId = id };

    /// <summary>The settings of its endpoint.</summary>
    /// <inheritdoc cref="EndpointSettings(string, string, string, TransactionMode, int)" path="/param"/>
    public EndpointSettings EndpointOn(string queue, string transport, string widgets, int concurrency) =>
        Limits.ApplyTo(
            new(queue, transport, Reuse.ConnectionOf(widgets), Mode, concurrency)
            {
                Flush = Flush,
                BatchSize = BatchSize,
                ReceivesAhead = ReceivesAhead,
            },
            Kind);

    public override string ToString() => Name;

    private HandleMessage CreateOne(string queue) => Scenario.Handle(Access.CreateInsert(), SinkOf(queue));

    private static string NameOf(int batchSize) => batchSize.ToString(CultureInfo.InvariantCulture);
}
