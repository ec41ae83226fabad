using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>A table that two-phase commit over several servers or databases needs, and creates if it may.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Create">Creates it if it is missing.</param>
/// <param name="Key">The columns of its key.</param>
/// <param name="Rights">The rights that the endpoint's role needs.</param>
/// <param name="Latest">A column that tables of an earlier version lack, and the statement that adds it.</param>
internal sealed record OwnTable(string Name, string Create, string[] Key, string[] Rights, (string Column, string Upgrade)? Latest = null)
{
    /// <returns>The quoted name, with its schema.</returns>
    /// <exception cref="InvalidOperationException">
    /// It is missing and cannot be created, or lacks something. The message has the statement that mends it.
    /// </exception>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task<string> EnsureAsync(string endpoint, NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var find = source.CreateCommand("SELECT to_regclass($1) IS NULL");
        find.Parameters.Add(new NpgsqlParameter<string> { TypedValue = Name });
        if (await find.ExecuteScalarAsync(cancellationToken) is true)
            await CreateAsync(endpoint, source, cancellationToken);
        else if (Latest is { } latest)
            await RequireAsync(latest.Column, latest.Upgrade, endpoint, source, cancellationToken);

        return await new NeededTable(Name, Key, Rights).RequireAsync(endpoint, source, cancellationToken);
    }

    private async Task RequireAsync(string column, string upgrade, string endpoint, NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var find = source.CreateCommand(
            "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2 AND NOT attisdropped)");
        find.Parameters.Add(new NpgsqlParameter<string> { TypedValue = Name });
        find.Parameters.Add(new NpgsqlParameter<string> { TypedValue = column });
        if (await find.ExecuteScalarAsync(cancellationToken) is true)
            return;

        throw new InvalidOperationException(
            $"Endpoint '{endpoint}' cannot start: an earlier version of the kit created table {Name}. " +
            $"Run this once (it does not rewrite the table): {upgrade}");
    }

    private async Task CreateAsync(string endpoint, NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        try
        {
            await using var create = source.CreateCommand(Create);
            await create.ExecuteNonQueryAsync(cancellationToken);
        }
        catch (PostgresException refused) when (refused.SqlState is PostgresErrorCodes.InsufficientPrivilege or PostgresErrorCodes.InvalidSchemaName)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start in full-dtc: table {Name} is not on the search path, and the endpoint's role " +
                $"cannot create it ({refused.MessageText}). Run this as a role that can, and grant {string.Join(", ", Rights)} to the endpoint's role: " +
                Create,
                refused);
        }
    }
}
