using Kit.Endpoints.Bare;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Tests.Bare;

/// <summary>An endpoint that is not told all that it must know. Nothing is chosen for it.</summary>
public sealed class EndpointLacksAPart
{
    private const string Server = "Host=127.0.0.1;Port=9";

    [Test]
    public void Without_a_mode_it_is_refused() =>
        Refused(
            endpoint => endpoint.UsePostgreSql(Server).Handle<string, Never>(),
            "Endpoint 'work' has no transaction mode: call UseTransactionMode. Modes: full-dtc, dtc-off, ");

    [Test]
    public void Without_a_transport_it_is_refused() =>
        Refused(endpoint => endpoint.UseTransactionMode(TransactionMode.Shared).Handle<string, Never>(), "Endpoint 'work' has no transport: call ");

    [Test]
    public void Without_a_handler_it_is_refused() =>
        Refused(endpoint => endpoint.UsePostgreSql(Server).UseTransactionMode(TransactionMode.Shared), "Endpoint 'work' has no handler: call Handle<");

    private static void Refused(Action<BareEndpointBuilder> configure, string because) =>
        Assert.That(
            () => new ServiceCollection().AddBareEndpoint("work", configure), Throws.InvalidOperationException.With.Message.StartsWith(because));

    private sealed class Never : IMessageHandler<string>
    {
        public Task HandleAsync(string message, MessageContext context, CancellationToken cancellationToken) =>
            throw new InvalidOperationException("No message was sent.");
    }
}
