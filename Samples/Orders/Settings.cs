using Kit.Modes;
using Microsoft.Extensions.Configuration;
using Npgsql;

namespace Orders;

/// <summary>The configuration, from <c>appsettings.json</c>, the environment or the command line (<c>--Mode scope-off</c>).</summary>
/// <param name="Framework"><c>bare</c>, <c>masstransit</c>, <c>nservicebus</c>, <c>rebus</c> or <c>wolverine</c>.</param>
/// <param name="Mode">How transactional the handler is.</param>
/// <param name="Queues">The transport's connection string: for a PostgreSQL database, or for MassTransit an AMQP URI.</param>
/// <param name="Data">The connection string of the PostgreSQL database with the orders.</param>
/// <param name="SendsAtStart">Whether it sends itself an order when it has started.</param>
/// <param name="SendOnly">The only thing that it does is to send this order; <see langword="null"/>: it runs the endpoint.</param>
internal sealed record Settings(string Framework, TransactionMode Mode, string Queues, string Data, bool SendsAtStart, Guid? SendOnly)
{
    /// <exception cref="SettingsException">A setting is missing or cannot be read.</exception>
    public static Settings Read(IConfiguration configuration)
    {
        var framework = Required(configuration, "Framework");
        return new(
            framework,
            ModeOf(Required(configuration, "Mode")),
            framework is "masstransit" ? Broker(configuration, "Queues") : Database(configuration, "Queues"),
            Database(configuration, "Data"),
            configuration["SendsAtStart"] is not { } sends || Read<bool>("SendsAtStart", sends, bool.TryParse),
            configuration["SendOnly"] is { } order ? Read<Guid>("SendOnly", order, Guid.TryParse) : null);
    }

    private delegate bool Parser<T>(string text, out T value);

    private static T Read<T>(string name, string text, Parser<T> parse) => parse(text, out var value)
        ? value
        : throw new SettingsException($"The setting '{name}' is '{text}'. Expected: {(value is bool ? "true or false" : "the id of an order, a UUID")}.");

    private static string Required(IConfiguration configuration, string name) =>
        configuration[name] ?? throw new SettingsException($"The setting '{name}' is missing: give it in appsettings.json or as --{name}.");

    private static TransactionMode ModeOf(string name) => TransactionMode.All.SingleOrDefault(mode => mode.Name == name)
        ?? throw new SettingsException($"There is no mode '{name}'. Modes: {string.Join(", ", TransactionMode.All)}.");

    // The value is not repeated, because it can contain a password.
    private static string Broker(IConfiguration configuration, string name) =>
        Required(configuration, name) is var text && Uri.TryCreate(text, UriKind.Absolute, out var address) && address.Scheme is "amqp" or "amqps"
            ? text
            : throw new SettingsException($"The setting '{name}' is not the address of a broker. Expected: amqp://user:password@host/vhost.");

    private static string Database(IConfiguration configuration, string name)
    {
        var text = Required(configuration, name);
        try
        {
            _ = new NpgsqlConnectionStringBuilder(text);
            return text;
        }
        catch (ArgumentException unreadable)
        {
            throw new SettingsException($"The setting '{name}' is not a PostgreSQL connection string: {unreadable.Message}", unreadable);
        }
    }
}
