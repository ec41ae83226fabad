using System.Globalization;

namespace Kit.Runner.Servers;

/// <summary>The settings of the private cluster, each with its reason. What is not here is the server's default.</summary>
public static class ClusterSettings
{
    /// <summary>
    /// Prepared transactions at one time. full-dtc holds one for each message whose second phase has not run yet; the endpoint bounds
    /// those well below this number.
    /// </summary>
    public const int MaxPreparedTransactions = 100;

    /// <summary>The text of a configuration file for a server on a loopback port.</summary>
    public static string For(int port) => string.Create(CultureInfo.InvariantCulture, $"""
        # Reached from this machine alone, by password.
        listen_addresses = '127.0.0.1'
        port = {port}
        unix_socket_directories = ''
        max_connections = 100

        # Durability as a user's server has it: what the modes cost is, for the most part, flushes.
        fsync = on
        synchronous_commit = on
        full_page_writes = on

        # full-dtc prepares; the default of 0 forbids it.
        max_prepared_transactions = {MaxPreparedTransactions}
        # The clock of a round ends with the last commit as the database knows it.
        track_commit_timestamp = on

        # A million rows stay in memory, and no checkpoint falls into a drain by itself.
        shared_buffers = 256MB
        max_wal_size = 4GB
        checkpoint_timeout = 30min

        """);
}
