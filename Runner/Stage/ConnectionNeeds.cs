using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Stage;

/// <summary>The most connections that a round of a cell has to the PostgreSQL server at the same time.</summary>
/// <param name="Handlers">Connections of a process's handlers.</param>
/// <param name="Receives">Connections of a process's receives, if the queue is in PostgreSQL and has a pool of its own. Each server accepts all.</param>
internal sealed record ConnectionNeeds(int Processes, int Handlers, int Receives, int Others)
{
    /// <summary>The most that the kit's own server is started with. Each costs it some megabytes.</summary>
    public const int MostOfOwn = 1_000;

    // The second phase, recovery, counting slots, the lock that proves that queue and data are on one server.
    private const int OfTwoPhases = 5;

    // The outbox's dispatcher and its claim, or a look for new messages.
    private const int OfOtherModes = 2;

    // It counts, reads and drops databases, one after the other.
    private const int OfTheRunner = 5;

    /// <summary>The connections of <c>worker</c> and of what the runner needs for it.</summary>
    public int OfWorkers { get; init; }

    public int Total => (Processes * (Handlers + Receives + Others)) + OfTheRunner + OfWorkers;

    /// <param name="concurrency">Messages that each process handles at the same time.</param>
    /// <returns><see langword="null"/> if neither queue nor widgets are in PostgreSQL.</returns>
    public static ConnectionNeeds? Of(Cell cell, int concurrency) => cell.Kind.WidgetServer != WidgetServer.PostgreSql
        ? null
        : new ConnectionNeeds(
            cell.Processes.Count,
            Math.Min(cell.Limits.Connections, concurrency),
            Transport.Of(cell) is PostgreSqlTransport && !cell.NeedsOneDatabase ? concurrency : 0,
            cell.Mode.RowCommit is RowCommit.InTwoPhases ? OfTwoPhases : OfOtherModes);

    /// <summary>Support by the kit's own server, or the reason why it cannot be started with so many.</summary>
    public Support SupportOnOwn => Total <= MostOfOwn
        ? Support.Yes
        : Support.No($"{Text}, and the kit starts its own server with at most {Figures.Count(MostOfOwn)}; name fewer, or a server with --postgresql");

    /// <summary>The reason why a named server has too few; <see langword="null"/> if it has enough.</summary>
    public Lack? LackOn(PostgreSqlFacts server) => Total <= server.MaxConnections - server.ReservedConnections
        ? null
        : new Lack(
            $"The cell {Text}, and the server has {Figures.Count(server.MaxConnections)} " +
            $"(max_connections), {Figures.Plain(server.ReservedConnections)} of them reserved for superusers.",
            $"{PostgreSqlFacts.Set("max_connections", Figures.Plain(Total + server.ReservedConnections))} " +
            "Or name fewer handlers, processes or connections of the pool.",
            _ => true);

    private string Text =>
        $"needs up to {Figures.Count(Total)} connections to PostgreSQL: {Figures.Plain(Processes)} × ({Figures.Plain(Handlers)} for handlers + " +
        $"{Figures.Plain(Receives)} for receives + {Figures.Plain(Others)}) + {Figures.Plain(OfTheRunner)} for the runner" +
        (OfWorkers > 0 ? $" + {Figures.Plain(OfWorkers)} for workers" : "");
}
