using System.Diagnostics;
using System.Net.Sockets;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.Transports;
using Npgsql;

namespace Kit.Runner.Rounds.Joining;

/// <summary>Looks on a server for a run that needs a worker, and joins it.</summary>
/// <param name="arguments">The servers, as this machine reaches them.</param>
/// <param name="patience">The longest that it looks.</param>
/// <param name="note">Tells the user why it waits, and then what the worker does.</param>
internal sealed class RunSearch(TransportArguments arguments, TimeSpan patience, Action<string> note)
{
    private static readonly TimeSpan BetweenLooks = TimeSpan.FromSeconds(1);

    private readonly string server = arguments[PostgreSqlTransport.ServerSetting]!;
    private string? told;

    /// <exception cref="KitException">
    /// The server is out of reach, there is no run in time, or the run that is there has another build or a transport that this worker does not reach.
    /// </exception>
    public async Task<Worker> JoinAsync(CancellationToken cancellationToken)
    {
        var facts = await ReachAsync(cancellationToken);
        for (var watch = Stopwatch.StartNew(); watch.Elapsed < patience; await Task.Delay(BetweenLooks, cancellationToken))
        {
            var reasons = new List<string>();
            foreach (var (run, database, owner) in await ReadRunsAsync(cancellationToken))
            {
                if (owner is not null)
                    reasons.Add($"the run in {database} belongs to the role {owner}, and only that role can join it");
                else if (await TryAsync(run, database, reasons, cancellationToken) is { } worker)
                    return worker;
            }

            Tell(reasons.Count > 0 ? string.Join("; ", reasons) : "no run waits for workers");
        }

        throw new KitException(
            $"There is no run to join at {facts.Address} within {Figures.Plain((int)patience.TotalSeconds)} s{(told is null ? "" : $": {told}")}.",
            "Start it with 'run --workers', on the same server; --wait waits longer.");
    }

    private async Task<PostgreSqlFacts> ReachAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await PostgreSqlFacts.ReadAsync(server, cancellationToken);
        }
        catch (KitException failure) when (failure.InnerException is NpgsqlException { InnerException: SocketException or TimeoutException or IOException })
        {
            throw WorkerRoute.Explain(failure);
        }
    }

    /// <summary>Says why it waits, and not the same again.</summary>
    private void Tell(string why)
    {
        if (!string.Equals(why, told, StringComparison.Ordinal))
            note($"Waiting for a run: {why}.");
        told = why;
    }

    private async Task<List<(int Id, string Database, string? Owner)>> ReadRunsAsync(CancellationToken cancellationToken)
    {
        await using var connection = new NpgsqlConnection(EndpointConnections.ForRunner(server));
        await connection.OpenAsync(cancellationToken);
        await using var command = new NpgsqlCommand(
            "SELECT pid, datname, CASE WHEN NOT pg_has_role(usesysid, 'USAGE') THEN usename END FROM pg_stat_activity WHERE application_name = $1 ORDER BY pid",
            connection)
        { Parameters = { new() { Value = JoiningSession.OfRun } } };
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var found = new List<(int, string, string?)>();
        while (await reader.ReadAsync(cancellationToken))
            found.Add((reader.GetInt32(0), reader.GetString(1), await reader.IsDBNullAsync(2, cancellationToken) ? null : reader.GetString(2)));

        return found;
    }

    /// <param name="reasons">Gets the reason why it is not joined.</param>
    private async Task<Worker?> TryAsync(int run, string database, List<string> reasons, CancellationToken cancellationToken)
    {
        var inside = new NpgsqlConnectionStringBuilder(server) { Database = database }.ConnectionString;
        var session = await JoiningSession.OpenAsync(inside, "kit worker", new WorkerIsThere(), cancellationToken);
        Worker? worker = null;
        try
        {
            if (await HearAsync<RunOffer>(run, session, cancellationToken) is not { } offer)
                return null;

            await RequireAsync(offer, session, run, cancellationToken);
            session.Say(run, new WorkerJoins(Environment.MachineName, Provenance.OfHost()));
            if (await HearAsync<WorkerAdmitted>(run, session, cancellationToken) is not { } answer)
                return null;

            if (answer.Number is { } number)
                return worker = new Worker(number, offer, run, session, arguments, note);
            reasons.Add($"the run in {database} has all its workers");
            return null;
        }
        finally
        {
            if (worker is null)
                await session.DisposeAsync();
        }
    }

    /// <returns>Its next notice of that kind; <see langword="null"/>: it is gone.</returns>
    private static async Task<T?> HearAsync<T>(int run, JoiningSession session, CancellationToken cancellationToken)
        where T : JoiningNotice
    {
        while (true)
        {
            switch (await session.HearAsync(cancellationToken))
            {
                case (var from, T notice) when from == run:
                    return notice;
                case null when session.EndOf(run) is not null:
                    return null;
            }
        }
    }

    private async Task RequireAsync(RunOffer offer, JoiningSession session, int run, CancellationToken cancellationToken)
    {
        var own = await JoiningBuild.OfThisAsync(cancellationToken);
        if (!own.IsSameAs(offer.Build))
        {
            var refused = $"A worker on {Environment.MachineName} was refused: it has another build ({own}); the run has {offer.Build}.";
            await session.SayLastAsync(run, new WorkerRefused(refused));
            throw new KitException(
                $"The run has another build: {offer.Build}; this worker has {own}.",
                "Build the same commit on both machines, without changes, or copy the folder of the runner's build to this one.");
        }

        foreach (var transport in offer.Transports.Select(Transport.Named))
        {
            if (!transport.IsNamed(arguments))
            {
                throw new KitException(
                    $"The run has cells on {transport.Title}, and this worker knows no server for them.",
                    $"Name it as this machine reaches it: {transport.Server!.Option}.");
            }

            await transport.WorkerRoute!.RequireAsync(arguments, cancellationToken);
        }
    }
}
