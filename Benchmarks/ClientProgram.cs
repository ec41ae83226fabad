using Kit.Runner.Results;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Benchmarks;

/// <summary>One of PostgreSQL's client programs.</summary>
internal sealed class ClientProgram
{
    private readonly string path;

    private ClientProgram(string path) => this.path = path;

    /// <summary>The program next to the server's, so that both have one version.</summary>
    /// <exception cref="KitException">It is not there.</exception>
    public static async Task<ClientProgram> FindAsync(string name, CancellationToken cancellationToken)
    {
        var binaries = await PostgreSqlBinaries.FindAsync(cancellationToken);
        return File.Exists(binaries.PathOf(name))
            ? new ClientProgram(binaries.PathOf(name))
            : throw new KitException(
                $"There is no {name} next to the server programs of PostgreSQL {binaries.Version} in {binaries.Folder}.",
                "Install PostgreSQL's client programs of that version: packages named postgresql-client and postgresql-contrib in most systems.");
    }

    /// <summary>Runs it against a database and returns its output.</summary>
    /// <exception cref="KitException">It failed; the message contains its last line.</exception>
    public async Task<string> RunAsync(string connectionString, IEnumerable<string> arguments, CancellationToken cancellationToken)
    {
        var connection = new NpgsqlConnectionStringBuilder(connectionString);
        // Every user of a machine can read command lines, but only the owner of a process its environment.
        var program = new ExternalProgram(path, Variables: new Dictionary<string, string?>
        {
            ["PGHOST"] = connection.Host!,
            ["PGPORT"] = $"{connection.Port}",
            ["PGUSER"] = connection.Username!,
            ["PGPASSWORD"] = connection.Password!,
            ["PGDATABASE"] = connection.Database!,
        });
        var told = await program.RunAsync(arguments, cancellationToken);
        // Ctrl+C on a terminal goes to every process of the group, and this one may have ended before we were told.
        cancellationToken.ThrowIfCancellationRequested();
        return told.Succeeded
            ? told.Output
            : throw new KitException(
                $"{Path.GetFileNameWithoutExtension(path)} ended with exit code {told.ExitCode}: {told.Output.Split('\n')[^1]}",
                "See PostgreSQL's manual for that message.");
    }
}
