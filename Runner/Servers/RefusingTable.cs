using Npgsql;

namespace Kit.Runner.Servers;

/// <summary>A table of PostgreSQL that refuses new rows. Disposing ends that.</summary>
public sealed class RefusingTable : IAsyncDisposable
{
    private const string Constraint = "kit_refuses";

    private readonly NpgsqlDataSource source;
    private readonly string table;
    private bool refuses;

    private RefusingTable(string connectionString, string table) => (source, this.table) = (NpgsqlDataSource.Create(connectionString), $"\"{table}\"");

    /// <param name="accepted">The condition, in SQL, of the rows that it accepts all the same.</param>
    /// <exception cref="NpgsqlException">The database cannot be reached, or has no such table.</exception>
    public static async Task<RefusingTable> MakeAsync(string connectionString, string table, string accepted, CancellationToken cancellationToken)
    {
        var made = new RefusingTable(connectionString, table);
        try
        {
            // Not valid: the rows that it has may stay.
            await made.AlterAsync($"ADD CONSTRAINT {Constraint} CHECK ({accepted}) NOT VALID", cancellationToken);
            made.refuses = true;
            return made;
        }
        catch
        {
            await made.DisposeAsync();
            throw;
        }
    }

    /// <summary>The table takes rows again; a second call does nothing.</summary>
    public async ValueTask DisposeAsync()
    {
        if (refuses)
            await AlterAsync($"DROP CONSTRAINT {Constraint}", CancellationToken.None);
        refuses = false;
        await source.DisposeAsync();
    }

    private async Task AlterAsync(string change, CancellationToken cancellationToken)
    {
        await using var alter = source.CreateCommand($"ALTER TABLE {table} {change}");
        await alter.ExecuteNonQueryAsync(cancellationToken);
    }
}
