using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests;

/// <summary>A database for queues and one for widgets, new for each test, on whichever server the cell has its widgets.</summary>
internal interface ITestWidgets : IAsyncDisposable
{
    /// <summary>Connection string of the database that a mode has its queue in.</summary>
    string QueueOf(TransactionMode mode);

    string Widgets { get; }

    /// <summary>The same of the database that a cell has its queue in.</summary>
    string QueueOf(Cell cell) => cell.NeedsOneDatabase ? Widgets : QueueOf(cell.Mode);

    Task<int> CountRowsAsync();

    Task<int> CountRowsAsync(Guid message);

    Task<IReadOnlyDictionary<Guid, int>> ReadRowsByMessageAsync();

    Task<int> CountPreparedAsync();

    /// <summary>On the tests' server for a cell; where there is no PostgreSQL the test is ignored, with the reason.</summary>
    static async Task<ITestWidgets> CreateAsync(IEndpointKind kind)
    {
#if KIT_SQLCLIENT
        if (kind.WidgetServer == WidgetServer.SqlServer)
            return await SqlServer.SqlServerTestDatabases.CreateAsync();
#endif
        return kind.WidgetServer == WidgetServer.PostgreSql
            ? await TestDatabases.CreateAsync()
            : throw new ArgumentException(
                $"{kind.Framework} on {kind.Transport}: the tests have no databases for its widgets. Enter them here.", nameof(kind));
    }
}
