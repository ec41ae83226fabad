using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>Tells a server that has turned read-only from a handler that has made its own transaction read-only: it asks on another connection.</summary>
internal static class ReadOnlyServer
{
    // The session's default, whatever a user of its pool has set since. A setting of the role or the database is only in sessions opened after it.
    private const string Ask =
        """
        SELECT pg_is_in_recovery()
            OR (SELECT reset_val = 'on' FROM pg_settings WHERE name = 'default_transaction_read_only')
            OR EXISTS (
                SELECT FROM pg_db_role_setting CROSS JOIN unnest(setconfig) AS setting
                WHERE setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
                  AND setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user))
                  AND split_part(setting, '=', 1) = 'default_transaction_read_only' AND split_part(setting, '=', 2)::boolean)
        """;

    /// <param name="data">The handlers' database.</param>
    /// <param name="pools">Their connections. If the server that answers is not read-only, they are not used again: see <see cref="Leave"/>.</param>
    /// <param name="cancellationToken">Cancels the question.</param>
    /// <returns>Whether the handlers' transactions are read-only by themselves, or the server cannot be asked.</returns>
    public static async Task<bool> IsSoAsync(DatabaseAccess data, IEnumerable<NpgsqlDataSource> pools, CancellationToken cancellationToken)
    {
        try
        {
            await using var connection = await data.OpenApartAsync(cancellationToken);
            await using var ask = new NpgsqlCommand(Ask, connection);
            if (await ask.ExecuteScalarAsync(cancellationToken) is true)
                return true;
        }
        catch (NpgsqlException)
        {
            return true;
        }

        foreach (var pool in pools)
            pool.Clear();
        return false;
    }

    /// <summary>
    /// After a failure: if its session was read-only, the others of its pool are not used again. They can lead to a former primary, or were opened while the
    /// database was read-only, and stay so.
    /// </summary>
    public static void Leave(NpgsqlDataSource pool, Exception failure)
    {
        if (NpgsqlErrors.IsReadOnly(failure))
            pool.Clear();
    }
}
