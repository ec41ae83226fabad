using Npgsql;
using NpgsqlTypes;

namespace Kit.Endpoints.Bare;

/// <summary>
/// A table that must exist, and on which an endpoint would lose messages, handle them twice or never see them if it lacked its key, its place in the log, a
/// right or a policy.
/// </summary>
/// <param name="Name">Its quoted name.</param>
/// <param name="Key">The columns of its key, sorted; empty if it needs none.</param>
/// <param name="Rights">What the endpoint's role must be allowed to do.</param>
internal sealed record NeededTable(string Name, string[] Key, string[] Rights)
{
    private const string Ask =
        """
        SELECT nspname::text,
            relpersistence = 'p',
            cardinality($2) = 0 OR EXISTS (
                SELECT FROM pg_index
                WHERE indrelid = pg_class.oid AND indisunique AND indisvalid AND indimmediate AND indpred IS NULL AND indexprs IS NULL
                  AND $2 = ARRAY(
                    SELECT attname::text FROM pg_attribute
                    WHERE attrelid = pg_class.oid AND attnum = ANY (indkey[0:indnkeyatts - 1]) ORDER BY attname)),
            ARRAY(
                SELECT needed FROM unnest($3) AS needed
                WHERE NOT CASE needed WHEN 'DELETE' THEN has_table_privilege(pg_class.oid, needed) ELSE has_any_column_privilege(pg_class.oid, needed) END),
            row_security_active(pg_class.oid) AND EXISTS (
                SELECT FROM unnest($3) AS needed
                WHERE NOT EXISTS (
                    SELECT FROM pg_policy
                    WHERE polrelid = pg_class.oid AND polpermissive
                      AND polcmd IN ('*', CASE needed WHEN 'SELECT' THEN 'r' WHEN 'INSERT' THEN 'a' WHEN 'UPDATE' THEN 'w' WHEN 'DELETE' THEN 'd' END)
                      AND EXISTS (SELECT FROM unnest(polroles) AS given WHERE CASE given WHEN 0 THEN true ELSE pg_has_role(given, 'USAGE') END))),
            current_user::text
        FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass($1)
        """;

    /// <returns>The quoted name, with its schema.</returns>
    /// <exception cref="InvalidOperationException">It lacks something. The message has the statement that mends it.</exception>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task<string> RequireAsync(string endpoint, NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(Ask);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = Name });
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = Key, NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Text });
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = Rights, NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Text });
        await using var found = await command.ExecuteReaderAsync(cancellationToken);
        if (!await found.ReadAsync(cancellationToken))
            throw new InvalidOperationException($"Endpoint '{endpoint}' cannot start: table {Name} is not on the search path any more. Start it again.");

        var (isLogged, hasKey, missing, isHidden) = (found.GetBoolean(1), found.GetBoolean(2), found.GetFieldValue<string[]>(3), found.GetBoolean(4));
        var role = PostgreSqlStatement.Quoted(found.GetString(5));
        if (!isLogged)
        {
            // And a commit that changes nothing else does not wait for the log.
            throw Refused("is unlogged, and a crash of the server would empty it. Run this once", $"ALTER TABLE {Name} SET LOGGED");
        }

        if (!hasKey)
        {
            var columns = string.Join(", ", Key);
            throw Refused(
                $"has no valid unique index on ({columns}), and messages would be lost or handled twice. Remove duplicates, and run this once",
                $"CREATE UNIQUE INDEX ON {Name} ({columns})");
        }

        if (missing.Length > 0)
        {
            var rights = string.Join(", ", missing);
            throw Refused($"does not allow the endpoint's role {rights}. Run this as the table's owner", $"GRANT {rights} ON {Name} TO {role}");
        }

        if (isHidden)
        {
            throw Refused(
                "has row-level security and no policy for the endpoint's role, which would see no message. Run this as the table's owner",
                $"CREATE POLICY kit_endpoint ON {Name} TO {role} USING (true) WITH CHECK (true)");
        }

        return $"{PostgreSqlStatement.Quoted(found.GetString(0))}.{Name}";

        InvalidOperationException Refused(string because, string remedy) =>
            new($"Endpoint '{endpoint}' cannot start: table {Name} {because}: {remedy}");
    }
}
