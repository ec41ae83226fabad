using System;
using System.Threading;
using System.Threading.Tasks;
using Kit.Endpoints.NServiceBus;
using Kit.Modes;
using NServiceBus.Transport;

namespace NServiceBus.TransportTests;

/// <summary>NServiceBus's transport tests ask this class for the transport to test.</summary>
public partial class TransportTestsConfiguration
{
    public IConfigureTransportInfrastructure CreateTransportConfiguration() => new TwoPhaseTransport();

    private sealed class TwoPhaseTransport : IConfigureTransportInfrastructure
    {
        /// <summary>PostgreSQL's names have 63 bytes, of which the transport needs 8.</summary>
        private const int LongestName = 40;

        private static int tests;

        private readonly int test = Interlocked.Increment(ref tests);

        public string GetInputQueueName(string testName, TransportTransactionMode transactionMode) => NameOf(testName, "");

        public string GetErrorQueueName(string testName, TransportTransactionMode transactionMode) => NameOf(testName, "_error");

        public TransportDefinition CreateTransportDefinition() =>
            new TwoPhasePostgreSqlTransport(TwoPhaseServer.ConnectionString, TwoPhaseServer.Data);

        public Task<TransportInfrastructure> Configure(
            TransportDefinition transportDefinition, HostSettings hostSettings, QueueAddress inputQueueName, string errorQueueName,
            CancellationToken cancellationToken = default)
        {
            ((ITransactionModeTransport)transportDefinition).Use(new TransactionSettings(TransactionMode.FullDtc, TransactionTimeout.Default));
            var inner = ((TwoPhasePostgreSqlTransport)transportDefinition).Inner;
            inner.DelayedDelivery.TableSuffix = "Delayed";
            inner.Subscriptions.DisableCaching = true;
            var receiver = new ReceiveSettings(
                "mainReceiver", inputQueueName, transportDefinition.SupportsPublishSubscribe, purgeOnStartup: true, errorQueueName);
            return transportDefinition.Initialize(hostSettings, [receiver], [errorQueueName], cancellationToken);
        }

        /// <summary>The server ends with the tests, and its tables with it.</summary>
        public Task Cleanup(CancellationToken cancellationToken = default) => Task.CompletedTask;

        private string NameOf(string testName, string suffix) => $"{testName[..Math.Min(testName.Length, LongestName)]}{test}{suffix}";
    }
}
