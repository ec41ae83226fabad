using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Makes sure, before anything is received, that the tables of an endpoint's queue are there and are this version's.</summary>
internal sealed partial class QueueTables(string endpoint, QueueStatements statements, NpgsqlDataSource queues, ILogger log)
{
    /// <summary>Creates the tables that are missing.</summary>
    /// <exception cref="InvalidOperationException">The role may not do what is needed; the message has the statement that another one is to run.</exception>
    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        if (await ReadAsync<object>(statements.ReadOther, cancellationToken) is string other)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: {other} is there and is no queue of the kit. An endpoint's queue is a table of its name. " +
                "Give the endpoint another name, or its queue another schema or database.");
        }

        if (await ReadAsync<bool>(statements.IsMissing, cancellationToken))
            await CreateAsync(cancellationToken);

        if (await ReadAsync<bool>(statements.IsOutdated, cancellationToken))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: an earlier version of the kit made its queue's tables. " +
                $"Run this once, it rewrites nothing: {statements.Upgrade}");
        }

        if (await ReadAsync<bool>(statements.RefusesErrors, cancellationToken))
        {
            var role = await ReadAsync<string>("SELECT current_user::text", cancellationToken);
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: its role may not insert into the error table, and a message could not be given up. " +
                $"Run this as the table's owner: GRANT INSERT ON {statements.Errors} TO {PostgreSqlStatement.Quoted(role)}");
        }
    }

    private async Task CreateAsync(CancellationToken cancellationToken)
    {
        try
        {
            await using var create = queues.CreateCommand(statements.Create);
            await create.ExecuteNonQueryAsync(cancellationToken);
            var place = await ReadAsync<string>("SELECT concat(current_database(), '.', current_schema())", cancellationToken);
            LogCreated(endpoint, statements.Queue, statements.Errors, place);
        }
        catch (PostgresException refused) when (refused.SqlState is PostgresErrorCodes.InsufficientPrivilege or PostgresErrorCodes.InvalidSchemaName)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: there is no table {statements.Queue} or no table {statements.Errors} on the search path, " +
                $"and its role cannot create it ({refused.MessageText}). " +
                "Run this as a role that can, and grant this one SELECT, INSERT, UPDATE and DELETE: " +
                statements.Create,
                refused);
        }
    }

    private async Task<T> ReadAsync<T>(string question, CancellationToken cancellationToken)
    {
        await using var command = queues.CreateCommand(question);
        return (T)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    // Another endpoint that starts at the same time can have created them a moment before.
    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "Endpoint '{Endpoint}' found no queue: the tables {Queue} and {Errors} are new in database and schema '{Place}'.")]
    private partial void LogCreated(string endpoint, string queue, string errors, string place);
}
