using System.Reflection;
using System.Text.Json;
using Kit.Endpoints.NServiceBus;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using NServiceBus;
using NServiceBus.Routing;
using NServiceBus.Transport;
using DeadLetter = Kit.Endpoints.Bare.DeadLetter;
using IMessageQueue = Kit.Endpoints.Bare.IMessageQueue;
using KitMessage = Kit.Endpoints.Bare.OutgoingMessage;

namespace Kit.Endpoints.Cells;

/// <summary>NServiceBus on queues in files, without a server; the widgets are in PostgreSQL. Compiled only if the package feed has it.</summary>
public sealed class NServiceBusOnLearning : IEndpointKind
{
    private static readonly LearningTransport Any = new();

    public FrameworkFacts Facts => FactsOfNServiceBus.Facts;

    public string Transport => TransportName.Learning;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public IReadOnlyList<Assembly> Packages { get; } = [typeof(EndpointConfiguration).Assembly];

    public IReadOnlyList<PhaseInstrument> Instruments => NServiceBusEndpoint.Instruments;

    public Support Supports(TransactionMode mode) => NServiceBusSupport.Of(mode, Any);

    public IReadOnlyList<string> CodeOf(TransactionMode mode) => NServiceBusEndpoint.CodeOf("new LearningTransport()", mode);

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle) =>
        NServiceBusEndpoint.Add(
            services, settings, handle, HandlerConnections.Open, TransportIn(settings.Transport),
            NServiceBusEndpoint.ErrorQueueOf(settings.Queue));

    public IMessageQueue OpenQueue(string name, string transport) => new Queue(transport, name);

    private static LearningTransport TransportIn(string directory) => new() { StorageDirectory = directory };

    /// <summary>
    /// A queue is a folder with a headers file for each message and the bodies in <c>.bodies</c>. A message that is being handled is in its own
    /// folder in <c>.pending</c>, and when it is done, for a moment, in <c>.committed</c>.
    /// </summary>
    private sealed class Queue(string directory, string name) : IMessageQueue
    {
        private const int DispatchBatch = 100;
        private const string HeaderFiles = "*.metadata.txt";

        private static readonly TimeSpan MoveTime = TimeSpan.FromMilliseconds(20);

        private readonly string folder = Path.Combine(directory, name);

        public string Name => name;

        private string Bodies => Path.Combine(folder, ".bodies");

        private string Pending => Path.Combine(folder, ".pending");

        private string Committed => Path.Combine(folder, ".committed");

        /// <summary>Does nothing: a queue's folder is created with its first message.</summary>
        public Task CreateAsync(CancellationToken cancellationToken) => Task.CompletedTask;

        public Task SubscribeAsync(Type eventType, CancellationToken cancellationToken) => NServiceBusEndpoint.SubscribeAsync(
            name, TransportIn(directory), NServiceBusEndpoint.ErrorQueueOf(name), eventType, cancellationToken);

        /// <summary>Writes messages with the transport's own dispatcher.</summary>
        public async Task EnqueueAsync(IEnumerable<KitMessage> messages, CancellationToken cancellationToken)
        {
            var host = new HostSettings(name, name, new StartupDiagnosticEntries(), (_, _, _) => { }, setupInfrastructure: false);
            var transport = await TransportIn(directory).Initialize(host, receivers: [], sendingAddresses: [], cancellationToken);
            foreach (var batch in messages.Select(OperationOf).Chunk(DispatchBatch))
                await transport.Dispatcher.Dispatch(new TransportOperations(batch), new TransportTransaction(), cancellationToken);

            await transport.Shutdown(cancellationToken);
        }

        public async Task<long> CountAsync(CancellationToken cancellationToken)
        {
            var count = Files().Count;
            if (count > 0)
                return count;

            // A message that is returned moves between folders, and can be missed.
            await Task.Delay(MoveTime, cancellationToken);
            return Files().Count;
        }

        public async Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) =>
            [.. (await ReadHeadersAsync(Files(), cancellationToken)).Select(headers => Guid.Parse(headers[Headers.MessageId]))];

        public async Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken)
        {
            var all = new List<T>();
            foreach (var file in Files())
            {
                var headers = await ReadHeadersAsync([file], cancellationToken);
                var body = Path.Combine(Bodies, Path.GetFileName(file).Replace(".metadata.", ".body.", StringComparison.Ordinal));
                all.Add(read(Guid.Parse(headers[0][Headers.MessageId]), await File.ReadAllBytesAsync(body, cancellationToken)));
            }

            return all;
        }

        public Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken) => Task.FromResult(
            FilesIn(Bodies, "*.body.txt").Select(body => (int?)new FileInfo(body).Length).FirstOrDefault());

        public async Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
        [
            .. (await ReadHeadersAsync(FilesIn(Path.Combine(directory, NServiceBusEndpoint.ErrorQueueOf(name)), HeaderFiles), cancellationToken))
                .Select(NServiceBusEndpoint.DeadLetterOf),
        ];

        public ValueTask DisposeAsync() => ValueTask.CompletedTask;

        private TransportOperation OperationOf(KitMessage message) => new(
            new OutgoingMessage(message.MessageId.ToString(), NServiceBusEndpoint.HeadersOf(message, queue => queue), message.Body),
            new UnicastAddressTag(name));

        /// <summary>The messages that wait and those being handled. A file that moves meanwhile is found once or not at all.</summary>
        private List<string> Files() =>
        [
            .. FilesIn(folder, HeaderFiles)
                .Concat(IsReceiveTransactional() ? FilesBelow(Pending).Concat(FilesBelow(Committed)) : [])
                .DistinctBy(Path.GetFileName),
        ];

        // Without a transaction the transport creates no such folder, and a pending message has left the queue: a crash loses it.
        private bool IsReceiveTransactional() => Directory.Exists(Committed);

        private static IEnumerable<string> FilesBelow(string parent) => FoldersIn(parent).SelectMany(below => FilesIn(below, HeaderFiles));

        private static string[] FoldersIn(string parent) => Found(() => Directory.GetDirectories(parent));

        private static string[] FilesIn(string parent, string pattern) => Found(() => Directory.GetFiles(parent, pattern));

        private static string[] Found(Func<string[]> look)
        {
            try
            {
                return look();
            }
            catch (DirectoryNotFoundException)
            {
                return [];
            }
        }

        private static async Task<IReadOnlyList<Dictionary<string, string>>> ReadHeadersAsync(IEnumerable<string> files, CancellationToken cancellationToken)
        {
            var all = new List<Dictionary<string, string>>();
            foreach (var file in files)
                all.Add(JsonSerializer.Deserialize<Dictionary<string, string>>(await File.ReadAllTextAsync(file, cancellationToken))!);

            return all;
        }
    }
}
