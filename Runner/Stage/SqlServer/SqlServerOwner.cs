using Kit.Runner.Servers;
using Microsoft.Data.SqlClient;

namespace Kit.Runner.Stage.SqlServer;

/// <summary>Marks databases as the kit's by an extended property, and removes those whose process ended without removing them.</summary>
internal static class SqlServerOwner
{
    private const string Property = "kit_owner";

    /// <summary>Creates a database that is the kit's.</summary>
    /// <exception cref="SqlException">The server refused, or is full.</exception>
    public static async Task CreateAsync(string server, string database, CancellationToken cancellationToken)
    {
        await using var connection = await SqlServerConnections.OpenAsync(server, cancellationToken);
        await connection.ExecuteAsync($"CREATE DATABASE [{database}]", cancellationToken);
        await connection.ExecuteAsync(
            $"EXEC [{database}].sys.sp_addextendedproperty @name = N'{Property}', @value = @mark",
            cancellationToken,
            new SqlParameter("@mark", OwnerMark.Text));
    }

    /// <summary>
    /// Drops a database if it exists, after ending the sessions in it. Endpoints of this process leave some in the driver's pools, which would lend
    /// them again when a database of the same name is made.
    /// </summary>
    public static async Task DropAsync(string server, string database, CancellationToken cancellationToken)
    {
        // All pools: the endpoint's connection string is not the runner's.
        SqlConnection.ClearAllPools();
        await using var connection = await SqlServerConnections.OpenAsync(server, cancellationToken);
        await connection.ExecuteAsync(
            $"""
            IF DB_ID(N'{database}') IS NOT NULL
            BEGIN
                ALTER DATABASE [{database}] SET SINGLE_USER WITH ROLLBACK IMMEDIATE;
                DROP DATABASE [{database}];
            END
            """,
            cancellationToken);
    }

    /// <summary>Drops databases that crashed runs left on a server, as far as the login owns them.</summary>
    public static async Task<IReadOnlyList<Leftover>> RemoveLeftoversAsync(string server, CancellationToken cancellationToken)
    {
        var leftovers = new List<string>();
        await using (var connection = await SqlServerConnections.OpenAsync(server, cancellationToken))
        {
            var candidates = await connection.ReadAsync(
                "SELECT name FROM sys.databases WHERE LEFT(name, LEN(@prefix)) = @prefix " +
                "AND owner_sid = SUSER_SID() AND state_desc = N'ONLINE' AND HAS_DBACCESS(name) = 1",
                row => row.GetString(0), cancellationToken, new SqlParameter("@prefix", DatabaseOwner.NamePrefix));
            foreach (var database in candidates)
            {
                var marks = await connection.ReadAsync(
                    $"SELECT CAST(value AS nvarchar(4000)) FROM {Quoted(database)}.sys.extended_properties WHERE class = 0 AND name = N'{Property}'",
                    row => row.GetString(0), cancellationToken);
                if (marks.Any(OwnerMark.IsOfEndedProcess))
                    leftovers.Add(database);
            }
        }

        foreach (var database in leftovers)
            await DropAsync(server, database, cancellationToken);

        return [.. leftovers.Select(database => new Leftover(database))];
    }

    private static string Quoted(string name) => $"[{name.Replace("]", "]]", StringComparison.Ordinal)}]";
}
