using Kit.Modes;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Whether the sessions of an endpoint wait for the log as its setting says: a pooler can drop a connection's options, and a role, a database or a
/// server can be set not to wait at all.
/// </summary>
internal sealed partial class FlushCheck(string endpoint, TransactionMode mode, LogFlush flush, ILogger log)
{
    private const string Off = "off";

    // The log writer flushes what is not flushed after at most three times this.
    private const string Read = "SELECT current_setting('synchronous_commit'), 3 * setting::integer FROM pg_settings WHERE name = 'wal_writer_delay'";

    /// <param name="source">Opens the sessions.</param>
    /// <param name="of">What the endpoint has there.</param>
    /// <param name="isAsynchronous">Whether they are to commit without waiting.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="InvalidOperationException">They do not do what the setting says; the message says what to do.</exception>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task RequireAsync(NpgsqlDataSource source, string of, bool isAsynchronous, CancellationToken cancellationToken)
    {
        var (setting, milliseconds) = await ReadAsync(source, cancellationToken);
        if (isAsynchronous)
        {
            if (setting != Off)
            {
                throw new InvalidOperationException(
                    $"Endpoint '{endpoint}' cannot leave out flushes ('{flush}'): the sessions of {of} have synchronous_commit = {setting}, though the " +
                    "connection's options say off. A pooler between them drops the options. Name the PostgreSQL server itself, or use 'every'.");
            }

            LogAsynchronous(endpoint, of, milliseconds);
        }
        else if (setting == Off && flush == LogFlush.Every)
        {
            LogSetOff(endpoint, of, mode);
        }
        else if (setting == Off)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot leave out flushes ('{flush}') in {mode}: the commits of {of} must wait for the log, and " +
                "synchronous_commit is off for this role, database or server. Set it to on, or use 'every'.");
        }
    }

    private static async Task<(string Setting, int Milliseconds)> ReadAsync(NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(Read);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return (reader.GetString(0), reader.GetInt32(1));
    }

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "Endpoint '{Endpoint}' commits in the database of {Of} without waiting for the log. A crash of the server can take back the commits of its " +
            "last {Milliseconds} ms, each of them as a whole.")]
    private partial void LogAsynchronous(string endpoint, string of, int milliseconds);

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "Endpoint '{Endpoint}' works in the database of {Of} with synchronous_commit = off, as its role, database or server is set. A crash of the " +
            "server can take back the last commits, and {Mode} promises nothing for that. Set it to on.")]
    private partial void LogSetOff(string endpoint, string of, TransactionMode mode);
}
