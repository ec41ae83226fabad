using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Cells;

/// <summary>One row of a comparison: a value on each axis of the matrix. Unless it is given, the value is the one that is measured by default.</summary>
public sealed record Cell(IEndpointKind Kind, TransactionMode Mode)
{
    /// <summary>
    /// Every cell that can be named, runnable or not, in the order of lists. <see cref="Matrix"/> says which values are combined. Each can also have any
    /// <see cref="Limits"/>.
    /// </summary>
    public static IReadOnlyList<Cell> All { get; } = [.. Matrix.Cells];

    private static Dictionary<string, Cell> ByName => field ??= All.ToDictionary(cell => cell.Name, StringComparer.Ordinal);

    /// <summary>The library that writes its row.</summary>
    public AccessLibrary Access { get; init; } = AccessLibrary.All[0];

    /// <summary>The commits that wait for the database's log.</summary>
    public LogFlush Flush { get; init; } = LogFlush.Every;

    /// <summary>The messages that are received at once.</summary>
    public int BatchSize { get; init; } = 1;

    /// <summary>A commit also receives the next message.</summary>
    public bool ReceivesAhead { get; init; }

    /// <summary>A message is moved to the error queue when it is received once more, and not within its last attempt.</summary>
    public bool DeadLettersNext { get; init; }

    /// <summary>Its endpoint looks for messages more often, and receives more at a time, than the framework does by default.</summary>
    public bool PollsOften { get; init; }

    public Scenario Scenario { get; init; } = Scenario.Insert;

    /// <summary>The difference of its rounds.</summary>
    public Condition Condition { get; init; } = Condition.Plain;

    /// <summary>The distance of its endpoint from its servers.</summary>
    public RoundTripTime RoundTrip { get; init; } = RoundTripTime.Direct;

    /// <summary>The size of its messages.</summary>
    public MessageSize Size { get; init; } = MessageSize.IdAlone;

    /// <summary>The processes that receive from its queue.</summary>
    public ProcessCount Processes { get; init; } = ProcessCount.One;

    public Reuse Reuse { get; init; } = Reuse.Static;

    /// <summary>The handlers of each of its processes, and the connections that they share.</summary>
    public HandlerLimits Limits { get; init; } = HandlerLimits.OfTheRun;

    /// <summary>Its name leaves out every value that a name can leave out.</summary>
    public bool IsPlain => Axis.All.All(axis => axis.Implied is null || axis.HasImplied(this));

    /// <summary>Experiments with their own handler know it: it has the implied value on each axis that only measured rounds know.</summary>
    public bool IsOfExperiments => Axis.All.All(axis => !axis.IsOfRounds || axis.HasImplied(this));

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

    /// <summary>Its queue must be in the widgets' database.</summary>
    public bool NeedsOneDatabase => Kind.NeedsOneDatabase(Mode);

    /// <summary>The first reason why the cell cannot run, if there is one.</summary>
    public Support Support => Axis.All.Select(axis => axis.Rule(this)).FirstOrDefault(support => !support.IsSupported) ?? Support.Yes;

    /// <summary>The axes in its name, with its values on them.</summary>
    public IEnumerable<(string Axis, string Value)> Values =>
        from axis in Axis.All
        let value = axis.ValueOf(this)
        where !string.Equals(value, axis.Implied, StringComparison.Ordinal)
        select (axis.Name, value);

    /// <summary>Its values in one text, for names of files and processes.</summary>
    public string Name => string.Join('.', Values.Select(value => value.Value));

    /// <summary>The cell of a name; <see langword="null"/> if there is none. It can have limits that no cell of <see cref="All"/> has.</summary>
    public static Cell? Find(string name)
    {
        ArgumentNullException.ThrowIfNull(name);
        var (limits, others) = HandlerLimits.Read(name.Split('.'));
        return ByName.GetValueOrDefault(string.Join('.', others)) is { } cell ? cell with { Limits = limits } : null;
    }

    /// <summary>Creates the handler that is measured.</summary>
    public HandleMessage CreateHandler(string queue) => Reuse == Reuse.Static ? CreateOne(queue) : async (message, context, cancellationToken) =>
    {
        await using var services = new ServiceCollection().AddSingleton(_ => CreateOne(queue)).BuildServiceProvider();
        await services.GetRequiredService<HandleMessage>()(message, context, cancellationToken);
    };

    /// <summary>The queue that a handler sends to, from the one that it receives from.</summary>
    public static string SinkOf(string queue) => $"{queue}-sink";

    /// <summary>All queues that its handler sends to, or that have subscribed to what it publishes.</summary>
    public IReadOnlyList<string> SinksOf(string queue) =>
        [.. Enumerable.Range(0, Scenario.Sinks).Select(index => Scenario.SinkAt(index, SinkOf(queue)))];

    /// <summary>A message with an id of its own, of this cell's size, and with the document that its scenario needs.</summary>
    public BuildWidget NewMessage() => NewMessage(Guid.CreateVersion7());

    public BuildWidget NewMessage(Guid id) => Scenario.Document is { } write
        ? new BuildWidget(id) { Document = write(id, Size.Letters) }
        : Size.NewMessage() with { MessageId = id };

    /// <summary>The settings of its endpoint.</summary>
    public EndpointSettings EndpointOn(string queue, string transport, string widgets, int concurrency) =>
        Limits.ApplyTo(
            new(queue, transport, Reuse.ConnectionOf(widgets), Mode, concurrency)
            {
                Flush = Flush,
                BatchSize = BatchSize,
                ReceivesAhead = ReceivesAhead,
                DeadLettersNext = DeadLettersNext,
                PollsOften = PollsOften,
            },
            Kind);

    public override string ToString() => Name;

    private HandleMessage CreateOne(string queue) => Scenario.Handle(Access.CreateInsert(), SinkOf(queue));
}
