using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Stage;

/// <summary>
/// A cell, set up so that it can be driven and observed: databases, a place for its queue, the queue, its messages, and the queues that it sends to. All of
/// it is new, and is removed with the stage. Handlers are started on it by whoever drives it.
/// </summary>
internal sealed class CellStage : IAsyncDisposable
{
    private readonly Stack<IAsyncDisposable> opened = new();

    private CellStage(Cell cell) => Cell = cell;

    public Cell Cell { get; }

    /// <summary>The databases of the widgets and of queues next to them.</summary>
    public IRoundStore Databases { get; private set; } = null!;

    /// <summary>Duration of their creation.</summary>
    public TimeSpan RestoreTime { get; private set; }

    /// <summary>The place of its queues.</summary>
    public RoundTransport Place { get; private set; } = null!;

    /// <summary>The queue that its handlers receive from.</summary>
    public IMessageQueue Queue { get; private set; } = null!;

    public RoundMessages Messages { get; private set; } = null!;

    /// <summary>The queues that its handlers send to.</summary>
    public Sinks Sinks { get; private set; } = Sinks.None;

    /// <summary>Sets up a cell.</summary>
    /// <exception cref="Exception">
    /// The driver's exception or a <see cref="Results.KitException"/>: a server refused, or cannot be reached. Nothing is left.
    /// </exception>
    public static async Task<CellStage> OpenAsync(
        Cell cell, ServerInUse queues, DatabaseInUse widgets, StageOptions options, CancellationToken cancellationToken)
    {
        var stage = new CellStage(cell);
        try
        {
            await stage.OpenAsync(queues, widgets, options, cancellationToken);
            return stage;
        }
        catch
        {
            await stage.DisposeAsync();
            throw;
        }
    }

    /// <inheritdoc cref="OpenAsync(Cell, ServerInUse, DatabaseInUse, StageOptions, CancellationToken)"/>
    public static Task<CellStage> OpenAsync(Cell cell, ServersInUse servers, StageOptions options, CancellationToken cancellationToken) =>
        OpenAsync(cell, servers.Of(cell), servers.WidgetsOf(cell), options, cancellationToken);

    /// <summary>The specification of a handler process for its queue, with the direct addresses of its servers.</summary>
    public HandlerSpec HandlersOf(int concurrency) =>
        new(Cell.Name, Place.Queue, Place.ForEndpoint, Databases.WidgetsForEndpoint, concurrency, RecordCompletions: false);

    /// <summary>Starts its handler processes, as many as the cell says.</summary>
    /// <param name="start">Starts the process of a number, from 1, elsewhere; <see langword="null"/>: this machine runs them all.</param>
    /// <exception cref="Results.KitException">One does not start.</exception>
    /// <exception cref="WorkerLostException">A worker is gone.</exception>
    public Task<HandlerProcesses> StartHandlersAsync(HandlerSpec spec, CancellationToken cancellationToken, Func<int, IHandlerLines>? start = null) =>
        HandlerProcesses.StartAsync(Cell.Processes.Count, spec, Queue, cancellationToken, Cell.Condition.IsTiered, start);

    /// <summary>The evidence about messages that nobody disturbed. Read it when they are handled.</summary>
    /// <param name="warmUp">The messages handled before the clock started.</param>
    /// <param name="messages">The measured messages.</param>
    /// <param name="handled">Returns of a handler, warm-up included; <see langword="null"/>: not counted.</param>
    /// <param name="built">The rows that are not seeded.</param>
    public async Task<RoundEvidence> ReadEvidenceAsync(
        IReadOnlyCollection<BuildWidget> warmUp, IReadOnlyCollection<BuildWidget> messages, int? handled, IEnumerable<BuiltWidget> built, long seedRows,
        CancellationToken cancellationToken) => new()
        {
            Messages = messages.Select(message => message.MessageId).ToHashSet(),
            WarmUp = warmUp.Select(message => message.MessageId).ToHashSet(),
            Found = new History
            {
                // The transport confirmed each of them to the runner.
                Sendings = [.. warmUp.Concat(messages).Select(message => new Sending(message.MessageId, SendResult.Acked))],
                Attempts = [],
                Rows = [.. built.Select(widget => new WidgetRow(widget.Id, widget.MessageId, AttemptId: Guid.Empty))],
                Sink = await Sinks.ReadAsync(warmUp.Concat(messages), cancellationToken),
                Errors = [.. (await Queue.ReadErrorsAsync(cancellationToken)).Select(error => error.MessageId)],
                Queue = [.. (await Queue.ReadMessagesAsync(cancellationToken)).Select(id => new QueueEntry(id, Receivable: true))],
                Prepared = await Databases.ReadPreparedAsync(cancellationToken),
            },
            Handled = handled,
            RowsPerMessage = Cell.Scenario.Rows,
            Deliveries = Cell.Scenario.Deliveries,
            SeedRows = seedRows,
            TableRows = await Databases.CountAsync(cancellationToken),
            Counted = await Databases.ReadTotalAsync(Cell.Scenario, cancellationToken),
        };

    public async ValueTask DisposeAsync()
    {
        while (opened.TryPop(out var last))
            await last.DisposeAsync();
    }

    private async Task OpenAsync(ServerInUse queues, DatabaseInUse widgets, StageOptions options, CancellationToken cancellationToken)
    {
        var watch = Stopwatch.StartNew();
        Databases = Opened(await (options.Rows switch
        {
            StageRows.Restored => widgets.RestoreAsync(cancellationToken),
            StageRows.None => widgets.CreateEmptyAsync(cancellationToken),
            _ => throw new NotSupportedException($"Nobody has said what rows a stage has with {options.Rows}."),
        }));
        RestoreTime = watch.Elapsed;
        // SQL Server's driver always resets them.
        if (Databases is RoundDatabases inPostgreSql)
            inPostgreSql.ResetsSessions = options.ResetsSessions;
        foreach (var statements in new[] { options.Prepare, Cell.Scenario.Prepare, Cell.Condition.Prepare }.OfType<string>())
            await Databases.PrepareAsync(statements, cancellationToken);
        Place = Opened(await queues.OpenAsync(Cell, RoundTransport.QueueName, Databases, cancellationToken));
        Queue = Opened(Cell.Kind.OpenQueueOf(Cell.Mode, Place.Queue, Place.ForRunner, Databases.WidgetsForRunner));
        await Queue.CreateAsync(cancellationToken);
        Messages = await RoundMessages.OfAsync(Cell, Place.Queue, Databases, cancellationToken);
        if (options.HasSinks)
            Sinks = Opened(await Sinks.CreateAsync(Cell, Place, Messages.ExpectedFor, cancellationToken));
    }

    private T Opened<T>(T one)
        where T : IAsyncDisposable
    {
        opened.Push(one);
        return one;
    }
}

/// <summary>The differences between stages.</summary>
/// <param name="Rows">The rows that the widgets' table begins with.</param>
internal sealed record StageOptions(StageRows Rows)
{
    /// <summary>Statements that run first, in the widgets' database.</summary>
    public string? Prepare { get; init; }

    /// <summary>True if the cell's scenario has its queues for sent messages. Otherwise the caller has queues of its own.</summary>
    public bool HasSinks { get; init; } = true;

    /// <inheritdoc cref="RoundDatabases.ResetsSessions"/>
    public bool ResetsSessions { get; init; }
}

/// <summary>The rows with which a widgets' table begins.</summary>
internal enum StageRows
{
    /// <summary>None.</summary>
    None,

    /// <summary>The seeded ones.</summary>
    Restored,
}
