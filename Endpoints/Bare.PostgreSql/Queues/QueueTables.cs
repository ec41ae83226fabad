using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

/// <summary>Ensures, before anything is received, that the tables of an endpoint's queue exist and have this version's columns.</summary>
internal sealed partial class QueueTables(string endpoint, QueueStatements statements, NpgsqlDataSource queues, ILogger log)
{
    /// <summary>Creates missing tables.</summary>
    /// <param name="longestDelay">The longest time for which this endpoint puts a message back.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <returns>The statements for the tables that were found.</returns>
    /// <exception cref="InvalidOperationException">The tables are not usable, or the role lacks a right. The message says what to do.</exception>
    public async Task<QueueStatements> PrepareAsync(TimeSpan longestDelay, CancellationToken cancellationToken)
    {
        if (await ReadAsync<object>(statements.ReadOther, cancellationToken) is string other)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: {other} exists and is not a queue of the kit. An endpoint's queue is a table with its name, " +
                "from which none inherits. Give the endpoint another name, or its queue another schema or database.");
        }

        if (await ReadAsync<bool>(statements.IsErrorTable, cancellationToken))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: table {statements.Queue} is another endpoint's error table. Give this endpoint another name.");
        }

        if (await ReadAsync<bool>(statements.HasQueueForErrors, cancellationToken))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: table {statements.Errors}, its error table, is another endpoint's queue. " +
                "Give one of the two endpoints another name.");
        }

        if (await ReadAsync<bool>(statements.IsMissing, cancellationToken))
            await CreateAsync(cancellationToken);

        if (await ReadAsync<bool>(statements.IsOutdated, cancellationToken))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: an earlier version of the kit created its queue's tables. " +
                $"Run this once (it does not rewrite the tables): {statements.Upgrade}");
        }

        if (await ReadAsync<bool>(SubscriptionStatements.CanBeRead, cancellationToken))
            await RenewSubscriptionsAsync(cancellationToken);

        var (queue, errors) = statements.Needs;
        return statements.In(
            await queue.RequireAsync(endpoint, queues, cancellationToken), await errors.RequireAsync(endpoint, queues, cancellationToken), longestDelay);
    }

    /// <summary>Adds, to subscriptions whose types have names of an earlier version, those with the names that are published now.</summary>
    private async Task RenewSubscriptionsAsync(CancellationToken cancellationToken)
    {
        var all = new HashSet<(string Type, string Queue)>();
        await using (var read = queues.CreateCommand(SubscriptionStatements.ReadAll))
        await using (var row = await read.ExecuteReaderAsync(cancellationToken))
        {
            while (await row.ReadAsync(cancellationToken))
                all.Add((row.GetString(0), row.GetString(1)));
        }

        foreach (var (type, queue) in all.Select(one => (Type: TypeNames.WithoutVersions(one.Type), one.Queue)).Where(one => !all.Contains(one)).Distinct())
        {
            try
            {
                await using var batch = queues.CreateBatch();
                batch.BatchCommands.Add(SubscriptionStatements.Subscribing(type, queue));
                await batch.ExecuteNonQueryAsync(cancellationToken);
            }
            catch (PostgresException refused) when (refused.SqlState == PostgresErrorCodes.InsufficientPrivilege && queue != endpoint)
            {
                // Another endpoint's, which is told when it starts.
            }
            catch (PostgresException refused) when (refused.SqlState == PostgresErrorCodes.InsufficientPrivilege)
            {
                throw new InvalidOperationException(
                    $"Endpoint '{endpoint}' cannot start: queue '{queue}' has subscribed to {type} with an earlier version of the kit, under a name that " +
                    $"is not published any more, and the endpoint's role cannot add the subscription ({refused.MessageText}). Run this as the table's owner: " +
                    $"INSERT INTO kit_subscription (type, queue) VALUES ('{type}', '{queue}')",
                    refused);
            }
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
                $"Endpoint '{endpoint}' cannot start: table {statements.Queue} or {statements.Errors} is not on the search path, " +
                $"and the endpoint's role cannot create it ({refused.MessageText}). " +
                "Run this as a role that can, and grant SELECT, INSERT, UPDATE and DELETE to the endpoint's role: " +
                statements.Create,
                refused);
        }
    }

    private async Task<T> ReadAsync<T>(string question, CancellationToken cancellationToken)
    {
        await using var command = queues.CreateCommand(question);
        return (T)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    // Another endpoint that starts at the same time may have created them a moment earlier.
    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "Endpoint '{Endpoint}' found no queue, so it created the tables {Queue} and {Errors} in database and schema '{Place}'.")]
    private partial void LogCreated(string endpoint, string queue, string errors, string place);
}
