using System.Data;
using System.Diagnostics;
using Kit.Handlers;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;
using Microsoft.Data.SqlClient;

namespace Kit.Runner.Stage.SqlServer;

/// <summary>
/// The databases of one run on SQL Server: a template with the seeded rows, and for each round two new databases, one with a copy of its rows.
/// A database snapshot would be restored faster. But while it exists, each first change of a page is written twice, and restoring it
/// leaves a log of the smallest size, which grows in the drain: both would be measured. A copy is the same on every edition.
/// </summary>
/// <param name="server">Connection string of a login that may create databases.</param>
internal sealed class SqlServerDatabases(string server) : IWidgetStore
{
    // Room for a drain with the defaults: no file grows while the clock runs.
    private const int FileMebibytes = 128;
    private const int PagesOfAMebibyte = 128;

    // The server's defaults can be others, by its database "model". Each commit is durable under simple recovery too. Endpoints use locks; row versions are
    // for the runner's queries.
    internal static readonly IReadOnlyList<string> Settings =
        ["RECOVERY SIMPLE", "DELAYED_DURABILITY = DISABLED", "READ_COMMITTED_SNAPSHOT OFF", "ALLOW_SNAPSHOT_ISOLATION ON"];

    private const string CreateTable = "CREATE TABLE dbo.widget (id bigint NOT NULL PRIMARY KEY CLUSTERED, message_id uniqueidentifier NOT NULL)";

    private readonly string prefix = $"{DatabaseOwner.NamePrefix}{Guid.NewGuid().ToString("N")[..8]}";

    private string Template => $"{prefix}_template";

    private string Queue => $"{prefix}_queue";

    private string Widgets => $"{prefix}_widgets";

    /// <summary>Fills the template by bulk copy, in batches of <see cref="KitDatabases.BatchRows"/> rows.</summary>
    /// <returns>The duration.</returns>
    /// <exception cref="SqlException">The server refused, or is full.</exception>
    public async Task<TimeSpan> SeedAsync(int rows, IProgress<int> progress, CancellationToken cancellationToken)
    {
        await CreateAsync(Template, cancellationToken);
        await using var connection = await SqlServerConnections.OpenAsync(ConnectionTo(Template), cancellationToken);
        await connection.ExecuteAsync(CreateTable, cancellationToken);
        var watch = Stopwatch.StartNew();
        var first = DateTime.UtcNow - TimeSpan.FromMilliseconds(rows);
        using var batch = new DataTable();
        batch.Columns.Add("id", typeof(long));
        batch.Columns.Add("message_id", typeof(Guid));
        using var copy = new SqlBulkCopy(connection, SqlBulkCopyOptions.TableLock, externalTransaction: null)
        {
            DestinationTableName = "dbo.widget",
            BatchSize = KitDatabases.BatchRows,
            BulkCopyTimeout = 0,
        };
        copy.ColumnOrderHints.Add("id", SortOrder.Ascending);
        for (var seeded = 0; seeded < rows; seeded += KitDatabases.BatchRows)
        {
            batch.Clear();
            for (var row = seeded; row < Math.Min(seeded + KitDatabases.BatchRows, rows); row++)
                batch.Rows.Add(WidgetId.LowestAt(first.AddMilliseconds(row)), Guid.Empty);

            await copy.WriteToServerAsync(batch, cancellationToken);
            progress.Report(seeded + batch.Rows.Count);
        }

        return watch.Elapsed;
    }

    public Task<IRoundStore> RestoreAsync(CancellationToken cancellationToken) => MakeAsync(
        // Into an empty, locked table and in the order of its key, so that rows are not logged one by one.
        $"INSERT INTO dbo.widget WITH (TABLOCK) (id, message_id) SELECT id, message_id FROM [{Template}].dbo.widget ORDER BY id", cancellationToken);

    public Task<IRoundStore> CreateEmptyAsync(CancellationToken cancellationToken) => MakeAsync(fill: null, cancellationToken);

    public Task DropAsync(string database) => SqlServerOwner.DropAsync(server, database, CancellationToken.None);

    /// <summary>Drops all databases of the run, also those of a round that was stopped while it was restored and does not own them yet.</summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var database in new[] { Queue, Widgets, Template })
            await DropAsync(database);
    }

    private async Task<IRoundStore> MakeAsync(string? fill, CancellationToken cancellationToken)
    {
        foreach (var database in new[] { Queue, Widgets })
        {
            await DropAsync(database);
            await CreateAsync(database, cancellationToken);
        }

        await using var connection = await SqlServerConnections.OpenAsync(ConnectionTo(Widgets), cancellationToken);
        await connection.ExecuteAsync(CreateTable, cancellationToken);
        if (fill is not null)
            await connection.ExecuteAsync(fill, cancellationToken);

        return new SqlServerRound(this, ConnectionTo(Queue), ConnectionTo(Widgets));
    }

    private string ConnectionTo(string database) => SqlServerConnections.To(server, database);

    private async Task CreateAsync(string database, CancellationToken cancellationToken)
    {
        await SqlServerOwner.CreateAsync(server, database, cancellationToken);
        await using var connection = await SqlServerConnections.OpenAsync(ConnectionTo(database), cancellationToken);
        foreach (var setting in Settings)
            await connection.ExecuteAsync($"ALTER DATABASE [{database}] SET {setting}", cancellationToken);
        var small = await connection.ReadAsync(
            "SELECT name FROM sys.database_files WHERE type IN (0, 1) AND size < @pages", row => row.GetString(0), cancellationToken,
            new SqlParameter("@pages", FileMebibytes * PagesOfAMebibyte));
        foreach (var file in small)
            await connection.ExecuteAsync($"ALTER DATABASE [{database}] MODIFY FILE (NAME = [{file}], SIZE = {FileMebibytes}MB)", cancellationToken);
    }
}
