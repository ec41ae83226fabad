using Kit.Handlers;
using Kit.Modes;
using NServiceBus;
using NServiceBus.Transport;

namespace Kit.Tests.NServiceBus;

/// <summary>An endpoint with its mode from the library, and the rest as a test of handlers wants it: none but the named one, no file.</summary>
internal static class TestEndpoint
{
    public static EndpointConfiguration Configure(string name, TransportDefinition transport, TransactionMode mode, TimeSpan? transactionTimeout = null)
    {
        var endpoint = new EndpointConfiguration(name);
        endpoint.UseTransactionMode(transport, mode, transactionTimeout);
        endpoint.UseSerialization<SystemJsonSerializer>();
        endpoint.SendFailedMessagesTo($"{name}_error");
        endpoint.AssemblyScanner().Disable = true;
        endpoint.CustomDiagnosticsWriter((_, _) => Task.CompletedTask);
        endpoint.Conventions().DefiningCommandsAs(type => type == typeof(BuildWidget));
        return endpoint;
    }
}
