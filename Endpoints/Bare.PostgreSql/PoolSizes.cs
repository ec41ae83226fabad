using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Each worker keeps a connection to its queue, and its handler may have one more: fewer than that, and they wait for each other.</summary>
internal static class PoolSizes
{
    /// <exception cref="InvalidOperationException">A pool is smaller than the concurrency.</exception>
    public static void Require(BareEndpointBuilder endpoint, NpgsqlConnectionStringBuilder queue, NpgsqlConnectionStringBuilder data)
    {
        Require(endpoint, queue, "its queue");
        Require(endpoint, data, "its handlers' data");
    }

    private static void Require(BareEndpointBuilder endpoint, NpgsqlConnectionStringBuilder connection, string of)
    {
        if (!connection.Pooling || connection.MaxPoolSize >= endpoint.Concurrency)
            return;

        throw new InvalidOperationException(
            $"Endpoint '{endpoint.Name}' at concurrency {endpoint.Concurrency} needs a Maximum Pool Size of at least {endpoint.Concurrency} " +
            $"in the connection string of {of}, found {connection.MaxPoolSize}. Raise it, or lower the concurrency.");
    }
}
