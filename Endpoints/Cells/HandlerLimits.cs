using System.Globalization;
using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Cells;

/// <summary>The messages that a process of a cell handles at the same time, and the connections that its handlers share.</summary>
/// <param name="Handlers">Messages at a time; <see langword="null"/>: as many as in all cells of the run that name no number.</param>
/// <param name="Connections">The most connections of the handlers to the widgets' database: the driver's <c>Maximum Pool Size</c>.</param>
public sealed record HandlerLimits(int? Handlers = null, int Connections = HandlerLimits.DefaultConnections)
{
    /// <summary>The driver's own default.</summary>
    public const int DefaultConnections = 100;

    private const string Handler = "handler";
    private const string Connection = "connection";

    // Next to the receives: a look for new messages, and the outbox's dispatcher.
    private const int ApartInTheQueue = 2;

    /// <summary>The default: the run's number of handlers, and the driver's pool.</summary>
    public static HandlerLimits OfTheRun { get; } = new();

    /// <summary>The number of handlers, as names and documents have it.</summary>
    public string HandlersName => Handlers is { } handlers ? NameOf(handlers) : "as-the-run";

    /// <summary>The number of connections, as names and documents have it.</summary>
    public string ConnectionsName => Named(Connections, Connection);

    /// <summary>A number of handlers, as names and documents have it.</summary>
    public static string NameOf(int handlers) => Named(handlers, Handler);

    /// <summary>Each cell with each number of handlers and each number of connections.</summary>
    /// <param name="handlers">The first is that of the run; the others are in the names of their cells.</param>
    public static IReadOnlyList<Cell> Multiply(IEnumerable<Cell> cells, IReadOnlyList<int> handlers, IReadOnlyList<int> connections) =>
    [
        .. from cell in cells
           from count in handlers
           from pool in connections
           select cell with { Limits = new HandlerLimits(count == handlers[0] ? null : count, pool) },
    ];

    /// <summary>Support for so many handlers: they need their connections at the same time.</summary>
    public Support SupportOf(IEndpointKind kind, TransactionMode mode, int concurrency)
    {
        ArgumentNullException.ThrowIfNull(kind);
        var least = kind.LeastConnections(mode, concurrency);
        return Connections >= least
            ? Support.Yes
            : Support.No($"{concurrency} handlers in {mode} need a pool of {least} connections or more, and it has {Connections} (--pool)");
    }

    internal Support SupportOn(IEndpointKind kind) => Connections == DefaultConnections || kind.WidgetServer == WidgetServer.PostgreSql
        ? Support.Yes
        : Support.No("--pool is a setting of the connections to PostgreSQL");

    /// <summary>The limits in a cell's values, and the other values.</summary>
    internal static (HandlerLimits Limits, IReadOnlyList<string> Others) Read(IEnumerable<string> values)
    {
        var limits = OfTheRun;
        var others = new List<string>();
        foreach (var value in values)
        {
            if (NumberOf(value, Handler) is { } handlers)
                limits = limits with { Handlers = handlers };
            else if (NumberOf(value, Connection) is { } connections)
                limits = limits with { Connections = connections };
            else
                others.Add(value);
        }

        return (limits, others);
    }

    /// <summary>Settings whose pools have these sizes. That of the queue in PostgreSQL is as large as the receives need.</summary>
    internal EndpointSettings ApplyTo(EndpointSettings settings, IEndpointKind kind)
    {
        var widgets = Connections == DefaultConnections ? settings.Widgets : WithPool(settings.Widgets, Connections);
        var receives = settings.Concurrency + ApartInTheQueue;
        return settings with
        {
            Widgets = widgets,
            Transport = kind.Transport is not (TransportName.PostgreSql or TransportName.PostgreSqlApart) ? settings.Transport
                // One pool for both.
                : settings.Transport == settings.Widgets ? widgets
                : receives > DefaultConnections ? WithPool(settings.Transport, receives)
                : settings.Transport,
        };
    }

    private static string Named(int count, string what) => string.Create(CultureInfo.InvariantCulture, $"{count}-{what}{(count == 1 ? "" : "s")}");

    private static int? NumberOf(string value, string what) =>
        value.Split('-') is [var number, _] && int.TryParse(number, NumberStyles.None, CultureInfo.InvariantCulture, out var count)
            && value == Named(count, what)
            ? count
            : null;

    private static string WithPool(string connection, int connections) =>
        new NpgsqlConnectionStringBuilder(connection) { MaxPoolSize = connections }.ConnectionString;
}
