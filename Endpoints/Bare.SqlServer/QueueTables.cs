using System.Globalization;
using Microsoft.Data.SqlClient;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>Makes sure, before anything is received, that the tables of an endpoint's queue are there and are this version's.</summary>
internal sealed partial class QueueTables(string endpoint, QueueStatements statements, string connectionString, ILogger log)
{
    private const int PermissionDenied = 262;
    private const int NoSuchSchemaOrNoPermission = 2760;

    /// <summary>Creates the tables that are missing.</summary>
    /// <exception cref="InvalidOperationException">The login may not do what is needed; the message has the statement that another one is to run.</exception>
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
                $"Endpoint '{endpoint}' cannot start: an earlier version of the kit made its queue's tables. " +
                $"Run this once, it rewrites nothing: {statements.Upgrade}");
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
                $"Endpoint '{endpoint}' cannot start: it sees no table {statements.Queue} or no table {statements.Errors}, and cannot create it " +
                $"({refused.Message}). Run this as a login that can, and grant this one SELECT, INSERT, UPDATE, DELETE and, on the queue, ALTER: " +
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
        Level = LogLevel.Information, Message = "Endpoint '{Endpoint}' found no queue: the tables {Queue} and {Errors} are new in database '{Database}'.")]
    private partial void LogCreated(string endpoint, string queue, string errors, string database);
}
