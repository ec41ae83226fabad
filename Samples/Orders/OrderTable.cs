using System.Data.Common;

namespace Orders;

/// <summary>What the handler does on every framework. It neither commits nor knows the mode.</summary>
internal static class OrderTable
{
    public static Task CreateAsync(DbConnection connection, CancellationToken cancellationToken) =>
        ExecuteAsync(connection, "CREATE TABLE IF NOT EXISTS placed_order (id uuid NOT NULL)", order: null, cancellationToken);

    /// <summary>Says so on the terminal, once for each attempt. Whether the row stays is up to the mode.</summary>
    public static async Task InsertAsync(DbConnection connection, PlaceOrder order, CancellationToken cancellationToken)
    {
        await ExecuteAsync(connection, "INSERT INTO placed_order (id) VALUES (@id)", order, cancellationToken);
        await Console.Out.WriteLineAsync($"order {order.OrderId}: handled".AsMemory(), cancellationToken);
    }

    private static async Task ExecuteAsync(DbConnection connection, string statement, PlaceOrder? order, CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = statement;
        if (order is not null)
        {
            var id = command.CreateParameter();
            (id.ParameterName, id.Value) = ("id", order.OrderId);
            command.Parameters.Add(id);
        }

        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
