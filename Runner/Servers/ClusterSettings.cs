using System.Globalization;

namespace Kit.Runner.Servers;

/// <summary>The settings of the private cluster, each with its reason. All others are the server's defaults.</summary>
public static class ClusterSettings
{
    /// <summary>The server's own default for its connections. One that has to serve more handlers is started with more.</summary>
    public const int Connections = 100;

    /// <summary>
    /// Prepared transactions at one time. full-dtc has one for each message whose second phase has not run yet; the endpoint keeps
    /// their number well below this.
    /// </summary>
    public const int MaxPreparedTransactions = 100;

    /// <summary>The text of a configuration file for a server on a loopback port.</summary>
    public static string For(int port, int connections = Connections) => string.Create(CultureInfo.InvariantCulture, $"""
        # Reachable only from this machine, with a password.
        listen_addresses = '127.0.0.1'
        port = {port}
        unix_socket_directories = ''
        max_connections = {connections}

        # Durability as on a user's server: the modes cost mostly flushes.
        fsync = on
        synchronous_commit = on
        full_page_writes = on

        # full-dtc prepares transactions, never more than it has connections; the default of 0 forbids that.
        max_prepared_transactions = {Math.Max(MaxPreparedTransactions, connections)}
        # The clock of a round ends with the last commit that the database recorded.
        track_commit_timestamp = on

        # A million rows stay in memory, and no scheduled checkpoint falls into a drain.
        shared_buffers = 256MB
        max_wal_size = 4GB
        checkpoint_timeout = 30min

        """);
}
