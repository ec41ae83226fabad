using Npgsql;

namespace Kit.Tests.Rounds;

/// <summary>A server as its owner sees it, next to the runs that use it.</summary>
internal sealed class NamedServer(string connectionString)
{
    public string ConnectionString => connectionString;

    public string Password => new NpgsqlConnectionStringBuilder(connectionString).Password!;

    public static async Task<NamedServer> GetAsync() => new((await PostgreSqlServer.GetAsync()).ConnectionString);

    public NamedServer In(string database) => new(new NpgsqlConnectionStringBuilder(connectionString) { Database = database }.ConnectionString);

    public NamedServer As(string role, string password) =>
        new(new NpgsqlConnectionStringBuilder(connectionString) { Username = role, Password = password }.ConnectionString);

    public async Task<int> ExecuteAsync(string statements)
    {
        await using var connection = await OpenAsync();
        await using var command = new NpgsqlCommand(statements, connection);
        return await command.ExecuteNonQueryAsync();
    }

    public async Task<IReadOnlyList<string>> ReadAsync(string query)
    {
        await using var connection = await OpenAsync();
        await using var command = new NpgsqlCommand(query, connection);
        await using var reader = await command.ExecuteReaderAsync();
        var values = new List<string>();
        while (await reader.ReadAsync())
            values.Add(reader.GetValue(0).ToString()!);

        return values;
    }

    public Task<IReadOnlyList<string>> DatabasesAsync() => ReadAsync("SELECT datname FROM pg_database ORDER BY datname");

    public async Task<NpgsqlConnection> OpenAsync()
    {
        var connection = new NpgsqlConnection(connectionString + ";Pooling=false");
        await connection.OpenAsync();
        return connection;
    }
}
