using System.Globalization;
using Microsoft.Data.SqlClient;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>Ensures, before anything is received, that the tables of an endpoint's queue exist and have this version's columns.</summary>
/// <param name="endpoint">The endpoint's name.</param>
/// <param name="statements">The statements of its queue.</param>
/// <param name="connectionString">The queue's database.</param>
/// <param name="retries">Whether it puts messages back.</param>
/// <param name="log">Logs that tables were created.</param>
internal sealed partial class QueueTables(string endpoint, QueueStatements statements, string connectionString, bool retries, ILogger log)
{
    private const int PermissionDenied = 262;
    private const int NoSuchSchemaOrNoPermission = 2760;
    private const int InsertDenied = 229;
    private const int PrimaryKeyViolation = 2627;

    /// <summary>Creates missing tables.</summary>
    /// <exception cref="InvalidOperationException">
    /// The tables are outdated, or the login may not create them, or not put messages back. The message says what to run.
    /// </exception>
    /// <exception cref="SqlException">The database cannot be reached.</exception>
    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        await using var connection = new SqlConnection(connectionString);
        await connection.OpenAsync(cancellationToken);
        if (await IsAsync(connection, statements.IsMissing, cancellationToken))
            await CreateAsync(connection, cancellationToken);

        if (await IsAsync(connection, statements.IsOutdated, cancellationToken))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: an earlier version of the kit created its queue's tables. " +
                $"Run this once (it does not rewrite the tables): {statements.Upgrade}");
        }

        if (await IsAsync(connection, statements.LacksKey, cancellationToken))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: table {statements.Queue} has no unique index on (position), and messages would be lost. " +
                $"Remove duplicates, and run this once: {statements.AddKey}");
        }

        if (retries && !await IsAsync(connection, statements.MayRequeue, cancellationToken))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: its login may not put messages back at their places in {statements.Queue}, and each failed message " +
                $"would stay first. Run this as a login that may: GRANT ALTER ON {statements.Queue} TO [the endpoint's user]");
        }

        if (await IsAsync(connection, SubscriptionStatements.CanBeRead, cancellationToken))
            await RenewSubscriptionsAsync(connection, cancellationToken);
    }

    /// <summary>Adds, to subscriptions whose types have names of an earlier version, those with the names that are published now.</summary>
    private async Task RenewSubscriptionsAsync(SqlConnection connection, CancellationToken cancellationToken)
    {
        var all = new HashSet<(string Type, string Queue)>();
        await using (var read = new SqlCommand(SubscriptionStatements.ReadAll, connection))
        await using (var row = await read.ExecuteReaderAsync(cancellationToken))
        {
            while (await row.ReadAsync(cancellationToken))
                all.Add((row.GetString(0), row.GetString(1)));
        }

        foreach (var (type, queue) in all.Select(one => (Type: TypeNames.WithoutVersions(one.Type), one.Queue)).Where(one => !all.Contains(one)).Distinct())
        {
            try
            {
                await using var add = new SqlCommand(SubscriptionStatements.Add, connection);
                add.Parameters.AddWithValue("@type", type);
                add.Parameters.AddWithValue("@queue", queue);
                await add.ExecuteNonQueryAsync(cancellationToken);
            }
            catch (SqlException taken) when (taken.Number == PrimaryKeyViolation)
            {
                // Another endpoint that starts at the same time has added it.
            }
            catch (SqlException refused) when (refused.Number == InsertDenied && queue != endpoint)
            {
                // Another endpoint's, which is told when it starts.
            }
            catch (SqlException refused) when (refused.Number == InsertDenied)
            {
                throw new InvalidOperationException(
                    $"Endpoint '{endpoint}' cannot start: queue '{queue}' has subscribed to {type} with an earlier version of the kit, under a name that " +
                    $"is not published any more, and the endpoint's login cannot add the subscription ({refused.Message}). Run this as a login that can: " +
                    $"INSERT INTO kit_subscription (type, queue) VALUES (N'{type}', N'{queue}')",
                    refused);
            }
        }
    }

    private async Task CreateAsync(SqlConnection connection, CancellationToken cancellationToken)
    {
        try
        {
            await using var create = new SqlCommand(statements.Create, connection);
            await create.ExecuteNonQueryAsync(cancellationToken);
            LogCreated(endpoint, statements.Queue, statements.Errors, connection.Database);
        }
        catch (SqlException refused) when (refused.Number is PermissionDenied or NoSuchSchemaOrNoPermission)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: it does not find table {statements.Queue} or {statements.Errors}, and cannot create it " +
                $"({refused.Message}). Run this as a login that can, and grant the endpoint's login SELECT, INSERT, UPDATE, DELETE and, on the queue, ALTER: " +
                statements.Create,
                refused);
        }
    }

    private static async Task<bool> IsAsync(SqlConnection connection, string question, CancellationToken cancellationToken)
    {
        await using var command = new SqlCommand(question, connection);
        return Convert.ToInt32(await command.ExecuteScalarAsync(cancellationToken), CultureInfo.InvariantCulture) == 1;
    }

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "Endpoint '{Endpoint}' found no queue, so it created the tables {Queue} and {Errors} in database '{Database}'.")]
    private partial void LogCreated(string endpoint, string queue, string errors, string database);
}
