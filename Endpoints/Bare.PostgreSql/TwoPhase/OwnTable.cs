using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>A table that two-phase commit over two servers needs, and creates if it may.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Create">Creates it if it is missing.</param>
/// <param name="Key">The columns of its key.</param>
/// <param name="Rights">The rights that the endpoint's role needs.</param>
internal sealed record OwnTable(string Name, string Create, string[] Key, string[] Rights)
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

        return await new NeededTable(Name, Key, Rights).RequireAsync(endpoint, source, cancellationToken);
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
                $"Endpoint '{endpoint}' cannot start in full-dtc on two servers: table {Name} is not on the search path, and the endpoint's role " +
                $"cannot create it ({refused.MessageText}). Run this as a role that can, and grant {string.Join(", ", Rights)} to the endpoint's role: " +
                Create,
                refused);
        }
    }
}
