using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

/// <summary>Settings of sessions that may wait for as long as it takes, while their client is there.</summary>
/// <remarks>
/// The time-outs of the server or of the role would end them. <see cref="Keepalive"/> is set here, too, for a data source that the application gives.
/// </remarks>
internal static class PatientSession
{
    private static readonly IReadOnlyList<Setting> ToWait =
    [
        new("idle_in_transaction_session_timeout", "0"), new("idle_session_timeout", "0", Since: 14), new("transaction_timeout", "0", Since: 17),
        .. Keepalive.Settings.Select(setting => new Setting(setting.Name, setting.Wanted)),
    ];

    // Of sessions that execute no statement of a handler. Above read committed a receive without a transaction of its own would fail at a row that another
    // worker has received, instead of skipping it.
    private static readonly IReadOnlyList<Setting> ToReceive =
    [
        .. ToWait, new("statement_timeout", "0"), new("lock_timeout", "0"), new("default_transaction_isolation", "read committed"),
    ];

    private static readonly IReadOnlyList<Setting> ToWork = [.. ToReceive, new("default_transaction_read_only", "off")];

    private static readonly string Wait = StatementOf(ToWait);
    private static readonly string Receive = StatementOf(ToReceive);
    private static readonly string Work = StatementOf(ToWork);

    /// <summary>Lets a session wait that handlers are lent.</summary>
    /// <returns>A statement that does it again after a reset, and returns one row; <see langword="null"/>: nothing is to be set.</returns>
    public static Task<string?> WaitAsync(NpgsqlConnection session) => SetAsync(session, Wait);

    /// <summary>Lets a session wait and receive that no handler is lent.</summary>
    /// <inheritdoc cref="WaitAsync" path="/returns"/>
    public static Task<string?> ReceiveAsync(NpgsqlConnection session) => SetAsync(session, Receive);

    /// <summary>Sessions without a pool that wait, write, and execute each statement to its end.</summary>
    public static NpgsqlDataSource ToWorkOn(string connectionString) =>
        new NpgsqlDataSourceBuilder(new NpgsqlConnectionStringBuilder(connectionString) { Pooling = false }.ConnectionString)
            .UsePhysicalConnectionInitializer(
                _ => throw new NotSupportedException("Its sessions are opened asynchronously."), session => SetAsync(session, Work))
            .Build();

    /// <summary>The same settings as an option of a connection string, for sessions that are reset or execute no SQL. Not every pooler takes it.</summary>
    /// <param name="majorVersion">The server's.</param>
    public static string OptionsToWork(int majorVersion) =>
        string.Join(' ', ToWork.Where(setting => setting.Since <= majorVersion).Select(setting => $"-c {setting.Name}={Escaped(setting.Wanted)}"));

    // Only settings that this server has, and no keepalive that is already shorter. On Unix sockets it is 0.
    private static string StatementOf(IEnumerable<Setting> settings) =>
        $"""
        SELECT name, wanted, set_config(name, wanted, false)
        FROM (VALUES {string.Join(", ", settings.Select(setting => $"('{setting.Name}', '{setting.Wanted}')"))}) AS ours (name, wanted)
        JOIN pg_settings USING (name)
        WHERE CASE WHEN name LIKE 'tcp%' THEN setting::integer > wanted::integer ELSE true END
        """;

    private static string Escaped(string option) => option.Replace(" ", "\\ ", StringComparison.Ordinal);

    private static async Task<string?> SetAsync(NpgsqlConnection session, string statement)
    {
        await using var command = new NpgsqlCommand(statement, session);
        await using var reader = await command.ExecuteReaderAsync();
        var set = new List<string>();
        while (await reader.ReadAsync())
            set.Add($"set_config('{reader.GetString(0)}', '{reader.GetString(1)}', false)");

        return set.Count == 0 ? null : $"SELECT {string.Join(", ", set)}";
    }

    /// <param name="Since">The first major version that has it, of those that the kit knows.</param>
    private sealed record Setting(string Name, string Wanted, int Since = 0);
}
