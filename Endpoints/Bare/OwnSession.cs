using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// What the endpoint's own statements need in a transaction that was lent to a handler, which may have set another role or search path there, or made a
/// temporary table of the same name.
/// </summary>
/// <param name="SearchPath">The schemas in which a new session finds tables, as a list for SET.</param>
internal sealed record OwnSession(string SearchPath)
{
    // A temporary schema is searched first unless it is named.
    private const string Read =
        """
        SELECT concat_ws(', ', string_agg(quote_ident(name), ', ' ORDER BY place), 'pg_temp')
        FROM unnest(current_schemas(false)) WITH ORDINALITY AS found (name, place) WHERE NOT starts_with(name, 'pg_temp')
        """;

    // What a new session begins with. "$user" in the path is the role.
    private const string AsAtFirst =
        "SELECT set_config('role', 'none', true), set_config('search_path', reset_val, true) FROM pg_settings WHERE name = 'search_path'";

    /// <summary>
    /// Before the last statements of a transaction. Deferred triggers are the handler's, and run under its role and path. None of these returns rows.
    /// </summary>
    public IEnumerable<NpgsqlBatchCommand> BeforeTheEnd => [new NpgsqlBatchCommand("SET CONSTRAINTS ALL IMMEDIATE"), .. Before];

    /// <summary>The same where other handlers follow in the transaction, whose deferred triggers must wait.</summary>
    public IEnumerable<NpgsqlBatchCommand> Before => [new NpgsqlBatchCommand("RESET ROLE"), Find];

    /// <summary>In somebody else's transaction, which keeps its role, and gets its path back with <see cref="GiveBack"/>.</summary>
    public IEnumerable<NpgsqlBatchCommand> Borrow => [Remember, Find];

    private static NpgsqlBatchCommand Remember => new("SELECT set_config('kit.search_path', current_setting('search_path'), true)");

    /// <inheritdoc cref="Borrow"/>
    public static NpgsqlBatchCommand GiveBack => new("SELECT set_config('search_path', current_setting('kit.search_path'), true)");

    private NpgsqlBatchCommand Find => new($"SET LOCAL search_path TO {SearchPath}");

    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public static async Task<OwnSession> ReadAsync(NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(Read);
        return new OwnSession((string)(await command.ExecuteScalarAsync(cancellationToken))!);
    }

    /// <summary>The same on somebody's connection, in its transaction. Its role and its search path are as before.</summary>
    /// <exception cref="PostgresException">The transaction has failed.</exception>
    public static async Task<OwnSession> ReadAsync(NpgsqlConnection borrowed, CancellationToken cancellationToken)
    {
        await using var batch = new NpgsqlBatch(borrowed)
        {
            BatchCommands =
            {
                Remember, new NpgsqlBatchCommand("SELECT set_config('kit.role', current_setting('role'), true)"),
                new NpgsqlBatchCommand(AsAtFirst), new NpgsqlBatchCommand(Read),
                GiveBack, new NpgsqlBatchCommand("SELECT set_config('role', current_setting('kit.role'), true)"),
            },
        };
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        for (var before = 0; before < 3; before++)
            await reader.NextResultAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return new OwnSession(reader.GetString(0));
    }
}
