using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Opens the sessions that receive. They are the kit's own, and what a server ends too early or too late is set for each of them.</summary>
/// <remarks>
/// A session waits in its transaction for as long as a handler takes: the server's time-outs for idle sessions and long transactions would end it and
/// hand the message to another worker. And a machine that vanished without a word must not hold its message for two hours, which is the usual default
/// of TCP keepalive: the server asks after 30 s and gives up after another 30 s.
/// </remarks>
internal static class QueueSource
{
    // Only what this server has (transaction_timeout came with version 17), and no keepalive that somebody has set shorter. On Unix sockets those are 0.
    private const string Configure =
        """
        SELECT set_config(name, wanted, false)
        FROM (VALUES ('idle_in_transaction_session_timeout', '0'), ('idle_session_timeout', '0'), ('transaction_timeout', '0'),
                     ('tcp_keepalives_idle', '30'), ('tcp_keepalives_interval', '10'), ('tcp_keepalives_count', '3')) AS ours (name, wanted)
        JOIN pg_settings USING (name)
        WHERE wanted = '0' OR setting::integer > wanted::integer
        """;

    /// <param name="connectionString">Of the queue's database.</param>
    /// <param name="enlist">Whether its connections join an ambient transaction.</param>
    public static NpgsqlDataSource Create(string connectionString, bool enlist)
    {
        // The reset would take the settings back, each time a connection goes to the pool. A worker keeps its session: where it must have another one,
        // because a handler that was lent it left it unusable (SET search_path), none from a pool will do.
        var settings = new NpgsqlConnectionStringBuilder(connectionString) { Enlist = enlist, NoResetOnClose = true, Pooling = enlist };
        return new NpgsqlDataSourceBuilder(settings.ConnectionString)
            .UsePhysicalConnectionInitializer(
                connection =>
                {
                    using var command = new NpgsqlCommand(Configure, connection);
                    command.ExecuteNonQuery();
                },
                async connection =>
                {
                    await using var command = new NpgsqlCommand(Configure, connection);
                    await command.ExecuteNonQueryAsync();
                })
            .Build();
    }
}
