using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>Statements for PostgreSQL.</summary>
internal static class PostgreSqlStatement
{
    /// <param name="text">With a placeholder for each value: $1, $2.</param>
    /// <param name="values">A <see langword="null"/> is sent as text.</param>
    public static NpgsqlBatchCommand Of(string text, params object?[] values)
    {
        var command = new NpgsqlBatchCommand(text);
        foreach (var value in values)
            command.Parameters.Add(value is null ? new NpgsqlParameter<string?> { TypedValue = null } : new NpgsqlParameter { Value = value });

        return command;
    }

    /// <summary>Quotes a name for use in a statement, whatever characters it contains.</summary>
    public static string Quoted(string name) => $"\"{name.Replace("\"", "\"\"", StringComparison.Ordinal)}\"";
}
