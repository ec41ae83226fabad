using Kit.Endpoints.Cells;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;

namespace Kit.Runner.Stage.Transports;

/// <summary>Queues in files, without a server; the widgets are in PostgreSQL.</summary>
internal sealed class LearningTransport : Transport
{
    public override string Name => TransportName.Learning;

    public override string Title => "Learning transport";

    public override Transport Widgets => Named(TransportName.PostgreSql);

    public override Task<ServerInUse> StartAsync(TransportArguments arguments, CancellationToken cancellationToken) =>
        Task.FromResult<ServerInUse>(new Folders(Title, ServerPlace.Choose(arguments.AllowsMemory).Path));

    /// <summary>Its queues need no server and no process.</summary>
    private sealed class Folders(string title, string parent) : ServerInUse
    {
        private const string Prefix = "kit-learning-";

        public override IReadOnlyList<int>? Processes => [];

        /// <summary>A folder where servers keep their files. The transport writes each message there before it moves it to its queue.</summary>
        public override async Task<RoundTransport> OpenAsync(
            Cell cell, string queue, IQueueStore databases, CancellationToken cancellationToken)
        {
            foreach (var leftover in OwnedFolder.Leftovers(parent, Prefix))
                await leftover.DeleteAsync();

            var folder = OwnedFolder.Create(parent, Prefix, title);
            return new RoundTransport(queue, folder.Server, folder.Server, async () => await folder.DeleteAsync());
        }

        public override ValueTask DisposeAsync() => ValueTask.CompletedTask;
    }
}
