using System.CommandLine;
using Kit.Endpoints.Cells;
using Kit.Runner.Stage;
using Kit.Runner.Terminal;

namespace Kit.Runner.Options;

/// <summary>The messages that an endpoint handles at the same time, and its connections. Several numbers multiply the cells.</summary>
internal sealed class HandlerOptions
{
    /// <summary>The concurrency of the published benchmark.</summary>
    public const int DefaultConcurrency = 2;

    /// <summary>
    /// Each worker holds a connection to its queue and one to the widgets; a server allows 100 by default.
    /// </summary>
    public const int MostConcurrency = 40;

    private const int MostHandlers = 400;

    private readonly Option<int[]> concurrency = NumberOption.Counts(
        "--concurrency",
        $"Messages handled at the same time by each process ({DefaultConcurrency}). " +
        "Several numbers multiply the cells; the others are compared with the first.",
        least: 1, MostHandlers);
    private readonly Option<int[]> pool = NumberOption.Counts(
        "--pool",
        $"Most connections of a process's handlers to the widgets' database, its Maximum Pool Size ({HandlerLimits.DefaultConnections}). " +
        "Several numbers multiply the cells.",
        least: 1, ConnectionNeeds.MostOfOwn);

    public IReadOnlyList<Option> All => [concurrency, pool];

    /// <summary>The numbers of handlers. The first is for cells that name no other.</summary>
    public IReadOnlyList<int> Handlers(ParseResult parsed) =>
        parsed.GetValue(concurrency) is { Length: > 0 } some ? some : [DefaultConcurrency];

    /// <summary>Each cell with each number of handlers and each number of connections.</summary>
    public IReadOnlyList<Cell> Multiply(IEnumerable<Cell> cells, ParseResult parsed) => HandlerLimits.Multiply(
        cells, Handlers(parsed), parsed.GetValue(pool) is { Length: > 0 } sizes ? sizes : [HandlerLimits.DefaultConnections]);
}
