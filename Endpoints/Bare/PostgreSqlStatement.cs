using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>Statements for PostgreSQL.</summary>
internal static class PostgreSqlStatement
{
    /// <summary>Executes statements without parameters one after the other, in one round trip. The first that fails ends it.</summary>
    /// <exception cref="PostgresException">One failed.</exception>
    public static Task ExecuteAllAsync(NpgsqlConnection connection, params string[] statements) =>
        ExecuteAllAsync(connection, statements.Select(statement => new NpgsqlBatchCommand(statement)));

    /// <summary>The same for statements with parameters.</summary>
    /// <inheritdoc cref="ExecuteAllAsync(NpgsqlConnection, string[])" path="/exception"/>
    public static async Task ExecuteAllAsync(NpgsqlConnection connection, IEnumerable<NpgsqlBatchCommand> commands)
    {
        await using var batch = new NpgsqlBatch(connection);
        foreach (var command in commands)
            batch.BatchCommands.Add(command);

        await batch.ExecuteNonQueryAsync();
    }

    /// <summary>
    /// Whether the server itself has refused a statement, so that its transaction has failed. A pooler that lost the server can say ERROR, too, in the class
    /// of connections (08); then only the server knows.
    /// </summary>
    public static bool IsRefused(Exception failure) =>
        failure is PostgresException { InvariantSeverity: "ERROR" } refusal && !refusal.SqlState.StartsWith("08", StringComparison.Ordinal);

    /// <summary>
    /// Whether the server has answered a statement of a batch. The driver sets the type with the answer, and keeps it when the batch is executed again.
    /// </summary>
    public static bool HasRun(NpgsqlBatchCommand command) => command.StatementType != StatementType.Unknown;

    /// <param name="text">With a placeholder for each value: $1, $2.</param>
    /// <param name="values">A <see langword="null"/> is sent as text.</param>
    public static NpgsqlBatchCommand Of(string text, params object?[] values)
    {
        var command = new NpgsqlBatchCommand(text);
        foreach (var value in values)
            command.Parameters.Add(value is null ? new NpgsqlParameter<string?> { TypedValue = null } : new NpgsqlParameter { Value = value });

        return command;
    }

    /// <summary>
    /// Quotes a text for use in a statement, whatever characters it contains. With a backslash it is an escape string, which means the same whether or not
    /// the session has <c>standard_conforming_strings</c>.
    /// </summary>
    public static string Literal(string text)
    {
        var quoted = text.Replace("'", "''", StringComparison.Ordinal);
        return text.Contains('\\', StringComparison.Ordinal) ? $"E'{quoted.Replace("\\", "\\\\", StringComparison.Ordinal)}'" : $"'{quoted}'";
    }

    /// <summary>Quotes a name for use in a statement, whatever characters it contains.</summary>
    public static string Quoted(string name) => $"\"{name.Replace("\"", "\"\"", StringComparison.Ordinal)}\"";
}
