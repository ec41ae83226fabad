using Kit.Modes;
using Npgsql;

namespace Kit.Runner.Rounds;

/// <summary>The two databases of one round; dropped when it has ended.</summary>
internal sealed class RoundDatabases(KitDatabases databases, string queue, string widgets) : IAsyncDisposable
{
    /// <summary>Connection string of the queue's own database, for transports in PostgreSQL.</summary>
    public string Queue => queue;

    /// <summary>Connection string of the widgets' database.</summary>
    public string Widgets => widgets;

    /// <summary>Connection string of the database that the queue is in: its own, or the widgets' in a mode that needs one database.</summary>
    public string QueueOf(TransactionMode mode) => mode.NeedsOneDatabase ? widgets : queue;

    public IReadOnlyList<string> Names => [NameIn(queue), NameIn(widgets)];

    public async ValueTask DisposeAsync()
    {
        foreach (var name in Names)
            await databases.DropAsync(name);
    }

    private static string NameIn(string connection) => new NpgsqlConnectionStringBuilder(connection).Database!;
}
