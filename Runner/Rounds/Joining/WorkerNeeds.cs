using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds.Joining;

/// <summary>The workers of other machines that a run needs.</summary>
/// <param name="Needed">Their number. They run the handler processes of each round in turn, and the runner's machine runs none.</param>
/// <param name="Patience">The longest that the run waits for them.</param>
internal sealed record WorkerNeeds(int Needed, TimeSpan Patience)
{
    /// <summary>One for each process of the cells that have most.</summary>
    public static int Most { get; } = ProcessCount.All.Max(count => count.Count);

    /// <summary>The connections to the PostgreSQL server that a round has besides those of a round on the runner's machine.</summary>
    /// <param name="processes">Its handler processes: each asks the server for its clock.</param>
    public int ConnectionsFor(int processes) => 1 + Needed + processes;

    /// <summary>Support for handlers of a cell on other machines.</summary>
    public static Support SupportOf(Cell cell) =>
        Transport.Of(cell) is var transport && (transport.WorkerRoute is null || transport.Widgets.WorkerRoute is null)
            ? Support.No($"workers on other machines do not reach the queues of '{transport.Name}'")
        : cell.RoundTrip.Added is not null ? Support.No("--rtt delays on the runner's machine, and workers on other machines do not pass there")
        : cell.Scenario.Rows == 0 ? Support.No("without rows, clocks of several machines would have to be compared")
        : Support.Yes;

    /// <summary>Refuses a server that only this machine reaches.</summary>
    /// <param name="cells">The cells of the run; those whose handlers cannot be on other machines are left out anyway.</param>
    /// <param name="arguments">The named servers.</param>
    /// <exception cref="KitException">A server is not named.</exception>
    public static void RequireNamed(IEnumerable<Cell> cells, TransportArguments arguments)
    {
        var needed = Transport.NeededBy(cells.Where(cell => SupportOf(cell).IsSupported).Select(Transport.Of));
        if (needed.FirstOrDefault(transport => !transport.IsNamed(arguments)) is { } unnamed)
        {
            throw new KitException(
                $"--workers: the kit's own {unnamed.Title} server is reached from this machine only.",
                $"Name one that all machines reach with {unnamed.Server!.Option}, or leave its cells out with --transport.")
            { IsUsage = true };
        }
    }

    /// <exception cref="KitException">A server does not record when a row was committed.</exception>
    public static void RequireClock(PostgreSqlFacts server)
    {
        if (!server.TracksCommitTimestamps)
        {
            throw new KitException(
                "--workers: the server does not record when a row was committed (track_commit_timestamp is off), and clocks of machines are not compared.",
                PostgreSqlFacts.Set("track_commit_timestamp", "on"));
        }
    }
}
