using Kit.Modes;
using Microsoft.Extensions.Configuration;

namespace Orders;

/// <summary>What the configuration says: <c>appsettings.json</c>, the environment, or the command line (<c>--Mode scope-off</c>).</summary>
/// <param name="Framework"><c>bare</c>, <c>masstransit</c> or <c>nservicebus</c>.</param>
/// <param name="Mode">How transactional the handler is.</param>
/// <param name="Queues">The transport's connection string: a PostgreSQL database, for MassTransit an AMQP URI.</param>
/// <param name="Data">Connection string of the database with the orders, PostgreSQL.</param>
internal sealed record Settings(string Framework, TransactionMode Mode, string Queues, string Data)
{
    /// <exception cref="ArgumentException">There is no such mode.</exception>
    /// <exception cref="InvalidOperationException">A setting is missing.</exception>
    public static Settings Read(IConfiguration configuration) => new(
        Required(configuration, "Framework"),
        TransactionMode.Parse(Required(configuration, "Mode")),
        Required(configuration, "Queues"),
        Required(configuration, "Data"));

    private static string Required(IConfiguration configuration, string name) =>
        configuration[name] ?? throw new InvalidOperationException($"The setting '{name}' is missing.");
}
