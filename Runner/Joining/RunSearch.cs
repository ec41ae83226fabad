using System.Diagnostics;
using System.Net.Sockets;
using System.Text.Json;
using Kit.Runner.Databases;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage;
using Kit.Runner.Transports;
using Npgsql;

namespace Kit.Runner.Joining;

/// <summary>Looks on a server for a run that needs a worker, and joins it.</summary>
/// <param name="arguments">The servers, as this machine reaches them.</param>
/// <param name="patience">How long to look.</param>
/// <param name="note">Tells the user why it waits.</param>
internal sealed class RunSearch(TransportArguments arguments, TimeSpan patience, Action<string> note)
{
    private static readonly TimeSpan BetweenLooks = TimeSpan.FromSeconds(1);

    private readonly string server = arguments[PostgreSqlTransport.ServerSetting]!;
    private string? told;

    /// <exception cref="KitException">
    /// The server is out of reach, there is no run in time, or the run that is there has another build or a transport that this worker does not reach.
    /// </exception>
    public async Task<WorkerSeat> JoinAsync(CancellationToken cancellationToken)
    {
        var facts = await ReachAsync(cancellationToken);
        for (var watch = Stopwatch.StartNew(); watch.Elapsed < patience; await Task.Delay(BetweenLooks, cancellationToken))
        {
            if (await FindAsync(cancellationToken) is { } seat)
                return seat;
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

    private async Task<WorkerSeat?> FindAsync(CancellationToken cancellationToken)
    {
        foreach (var (database, owner) in await ReadDatabasesAsync(cancellationToken))
        {
            if (owner is not null)
                Tell($"the run in {database} belongs to the role {owner}, and only that role can join it");
            else if (await TryAsync(database, cancellationToken) is { } seat)
                return seat;
        }

        Tell("no run waits for workers");
        return null;
    }

    /// <summary>Says something once, and not the same again.</summary>
    private void Tell(string why)
    {
        if (told is null)
            note($"Waiting for a run: {why}.");
        told ??= why;
    }

    private async Task<List<(string Name, string? Owner)>> ReadDatabasesAsync(CancellationToken cancellationToken)
    {
        await using var connection = new NpgsqlConnection(EndpointConnections.ForRunner(server));
        await connection.OpenAsync(cancellationToken);
        await using var command = new NpgsqlCommand(
            "SELECT datname, CASE WHEN NOT pg_has_role(datdba, 'USAGE') THEN pg_get_userbyid(datdba) END FROM pg_database WHERE datname LIKE $1 ORDER BY oid",
            connection)
        { Parameters = { new() { Value = JoiningTables.Names } } };
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var found = new List<(string, string?)>();
        while (await reader.ReadAsync(cancellationToken))
            found.Add((reader.GetString(0), await reader.IsDBNullAsync(1, cancellationToken) ? null : reader.GetString(1)));

        return found;
    }

    private async Task<WorkerSeat?> TryAsync(string database, CancellationToken cancellationToken)
    {
        var inside = new NpgsqlConnectionStringBuilder(server) { Database = database }.ConnectionString;
        var listening = new NpgsqlConnection(EndpointConnections.ForRunner(inside));
        try
        {
            await listening.OpenAsync(cancellationToken);
            if (await ReadBuildAsync(listening, cancellationToken) is not { } build)
                return await GiveUpAsync(listening);

            await RequireSameBuildAsync(listening, build, cancellationToken);
            var (machine, command, transports) = await ReadRunAsync(listening, cancellationToken);
            foreach (var transport in transports.Select(Transport.Named))
                await RequireAsync(transport, cancellationToken);
            if (await TakeSeatAsync(listening, cancellationToken) is { } number)
                return new WorkerSeat(number, $"{command} (on {machine})", inside, listening);

            Tell("the run that is there has all its workers");
            return await GiveUpAsync(listening);
        }
        catch (PostgresException gone) when (gone.SqlState is PostgresErrorCodes.InvalidCatalogName or PostgresErrorCodes.UndefinedTable)
        {
            // It has just ended, or is just beginning.
            return await GiveUpAsync(listening);
        }
        catch
        {
            await listening.DisposeAsync();
            throw;
        }
    }

    private static async Task<WorkerSeat?> GiveUpAsync(NpgsqlConnection listening)
    {
        await listening.DisposeAsync();
        return null;
    }

    /// <returns><see langword="null"/>: nobody is there any more.</returns>
    private static async Task<JoiningBuild?> ReadBuildAsync(NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(
            $"""
            SELECT protocol, version, fingerprint, commit, dirty FROM run
            WHERE ended IS NULL AND seen > clock_timestamp() - interval '{Figures.Plain((int)JoiningTables.Silence.TotalSeconds)} s'
            """,
            connection);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        return await reader.ReadAsync(cancellationToken)
            ? new JoiningBuild(
                reader.GetInt32(0), reader.GetString(1), reader.GetString(2),
                await reader.IsDBNullAsync(3, cancellationToken) ? null : new GitCommit(reader.GetString(3), reader.GetBoolean(4)))
            : null;
    }

    private static async Task RequireSameBuildAsync(NpgsqlConnection connection, JoiningBuild run, CancellationToken cancellationToken)
    {
        var own = await JoiningBuild.OfThisAsync(cancellationToken);
        if (own.IsSameAs(run))
            return;

        await using var command = new NpgsqlCommand("INSERT INTO refused (why) VALUES ($1)", connection)
        {
            Parameters = { new() { Value = $"A worker on {Environment.MachineName} was refused: it has another build ({own}); the run has {run}." } },
        };
        await command.ExecuteNonQueryAsync(cancellationToken);
        await connection.ExecuteAsync($"NOTIFY {JoiningTables.ToRun}", cancellationToken);
        throw new KitException(
            $"The run has another build: {run}; this worker has {own}.",
            "Build the same commit on both machines, without changes, or copy the folder of the runner's build to this one.");
    }

    private static async Task<(string Machine, string Command, string[] Transports)> ReadRunAsync(
        NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand("SELECT machine, command, transports FROM run", connection);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return (reader.GetString(0), reader.GetString(1), await reader.GetFieldValueAsync<string[]>(2, cancellationToken));
    }

    private async Task RequireAsync(Transport transport, CancellationToken cancellationToken)
    {
        if (!transport.IsNamed(arguments))
        {
            throw new KitException(
                $"The run has cells on {transport.Title}, and this worker knows no server for them.",
                $"Name it as this machine reaches it: {transport.Server!.Option}.");
        }

        await transport.WorkerRoute!.RequireAsync(arguments, cancellationToken);
    }

    /// <returns>The number of the new worker; <see langword="null"/>: the run has all that it needs.</returns>
    private static async Task<int?> TakeSeatAsync(NpgsqlConnection listening, CancellationToken cancellationToken)
    {
        await listening.ExecuteAsync($"LISTEN {JoiningTables.ToWorkers}", cancellationToken);
        await using var one = await listening.BeginTransactionAsync(cancellationToken);
        await listening.ExecuteAsync("LOCK TABLE worker IN SHARE ROW EXCLUSIVE MODE", cancellationToken);
        await using var command = new NpgsqlCommand(
            """
            INSERT INTO worker (machine, host, session)
            SELECT $1, $2, pg_backend_pid() FROM run WHERE (SELECT count(*) FROM worker WHERE ended IS NULL) < workers
            RETURNING number
            """,
            listening)
        {
            Parameters = { new() { Value = Environment.MachineName }, new() { Value = JsonSerializer.Serialize(Provenance.OfHost()) } },
        };
        var number = (int?)await command.ExecuteScalarAsync(cancellationToken);
        await listening.ExecuteAsync($"NOTIFY {JoiningTables.ToRun}", cancellationToken);
        await one.CommitAsync(cancellationToken);
        return number;
    }
}
