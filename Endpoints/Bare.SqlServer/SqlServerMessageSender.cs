using System.Data.Common;
using System.Text.Json;
using Microsoft.Data.SqlClient;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>Sends to queues in SQL Server, on its own connection or in the caller's transaction.</summary>
internal sealed class SqlServerMessageSender : MessageSender
{
    private readonly SqlConnectionStringBuilder queues;

    /// <exception cref="ArgumentException">The connection string cannot be read.</exception>
    public SqlServerMessageSender(string connectionString, JsonSerializerOptions? json)
        : base(SqlServerEndpoint.MessagingSystem, json) => queues = new SqlConnectionStringBuilder(connectionString) { Enlist = false };

    protected override async Task SendAsync(OutgoingMessage message, DbTransaction? transaction, CancellationToken cancellationToken)
    {
        if (transaction is not null)
        {
            var (connection, given) = InQueuesDatabase(transaction);
            await SendAsync(connection, given, message, cancellationToken);
            return;
        }

        await using var own = new SqlConnection(queues.ConnectionString);
        await own.OpenAsync(cancellationToken);
        await SendAsync(own, transaction: null, message, cancellationToken);
    }

    private static async Task SendAsync(SqlConnection connection, SqlTransaction? transaction, OutgoingMessage message, CancellationToken cancellationToken)
    {
        await using var command = MessageCommands.Send(message);
        (command.Connection, command.Transaction) = (connection, transaction);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private (SqlConnection Connection, SqlTransaction Transaction) InQueuesDatabase(DbTransaction transaction)
    {
        var given = Given<SqlTransaction>(transaction, "SqlClient");
        var connection = given.Connection;
        Require(new SqlConnectionStringBuilder(connection.ConnectionString).DataSource, connection.Database);
        return (connection, given);
    }

    /// <summary>Ensures that a transaction is where the queues are. Servers are the same if both connection strings name them alike.</summary>
    /// <param name="server">The server (Data Source) of the transaction's connection string.</param>
    /// <param name="database">The transaction's database.</param>
    /// <exception cref="NotSupportedException">A table with the queue's name would accept the message there, and nobody would receive it.</exception>
    internal void Require(string server, string database)
    {
        if (!database.Equals(queues.InitialCatalog, StringComparison.OrdinalIgnoreCase))
        {
            throw new NotSupportedException(
                $"The transaction is in database '{database}', but the sender's connection string names " +
                $"{(queues.InitialCatalog.Length == 0 ? "no database" : $"'{queues.InitialCatalog}'")}: name the queues' database (Initial Catalog).");
        }

        if (!server.Equals(queues.DataSource, StringComparison.OrdinalIgnoreCase))
        {
            throw new NotSupportedException(
                $"The transaction is on server '{server}', but the sender's connection string names '{queues.DataSource}': name the server alike in both.");
        }
    }
}
