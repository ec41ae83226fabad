using Npgsql;

namespace Kit.Runner.Stage.Databases;

/// <summary>Statements of the runner on a connection of its own.</summary>
internal static class Statements
{
    /// <summary>Executes a statement without parameters.</summary>
    public static async Task ExecuteAsync(this NpgsqlConnection connection, string statement, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(statement, connection);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
