using Kit.Prove.Files;
using Npgsql;

namespace Kit.Prove.Service;

/// <summary>
/// The transactions that have written the rows of effects, by the rows' commit timestamps: for a server whose log cannot be decoded. Of a row only the last
/// transaction is known, of a deleted row none.
/// </summary>
/// <param name="databases">By the names of the file.</param>
internal sealed class CommitStamps(IReadOnlyList<(string Database, NpgsqlDataSource Source)> databases, IReadOnlyList<RowEffect> effects) : ICommits
{
    private const string Tables =
        """
        SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relname
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        """;

    public int[] Sessions => [];

    public async Task<IReadOnlyList<CommittedTransaction>> ReadAsync(CancellationToken cancellationToken)
    {
        var rows = new List<(string Database, string Transaction, string Change, DateTimeOffset Committed)>();
        foreach (var (database, source) in databases)
        {
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            foreach (var table in await ReadTablesAsync(database, connection, cancellationToken))
            {
                // Its name is not that of a column: the whole row is meant.
                await using var read = new NpgsqlCommand(
                    "SELECT the_kits_row.xmin::text, the_kits_row::text, pg_xact_commit_timestamp(the_kits_row.xmin) " +
                    $"FROM {table} AS the_kits_row WHERE pg_xact_commit_timestamp(the_kits_row.xmin) IS NOT NULL",
                    connection)
                { CommandTimeout = 0 };
                await using var reader = await read.ExecuteReaderAsync(cancellationToken);
                while (await reader.ReadAsync(cancellationToken))
                    rows.Add((database, reader.GetString(0), $"{table}: ROW: {reader.GetString(1)}", reader.GetFieldValue<DateTimeOffset>(2)));
            }
        }

        return
        [
            .. from row in rows
               group row by (row.Database, row.Transaction, row.Committed) into transaction
               orderby transaction.Key.Committed
               select new CommittedTransaction(
                   transaction.Key.Database, [.. transaction.Select(row => row.Change)], transaction.Key.Committed),
        ];
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    /// <summary>The tables that effects read.</summary>
    private async Task<IReadOnlyList<string>> ReadTablesAsync(string database, NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(Tables, connection);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var found = new List<string>();
        while (await reader.ReadAsync(cancellationToken))
        {
            if (effects.Any(effect => effect.Database == database && WrittenTables.Names(effect.Sql, reader.GetString(1))))
                found.Add(reader.GetString(0));
        }

        return found;
    }
}
