using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Diagnostics;
using Kit.Handlers;
using Kit.Runner.Servers;
using Npgsql;
using NpgsqlTypes;

namespace Kit.Runner.Stage.Databases;

/// <summary>
/// The databases of one run: a template with the seeded rows, and for each round a copy of it and an empty database for the queue.
/// Their names are new for each run, and each has a comment that names the process that owns it. No other database is ever touched.
/// </summary>
internal sealed class KitDatabases : IWidgetStore
{
    public const int BatchRows = 10_000;

    public const string CreateTable = "CREATE TABLE widget (id bigint PRIMARY KEY, message_id uuid NOT NULL)";

    /// <summary>In PostgreSQL's order, the ids of all messages are above it, and those of seeded rows, each unique, are below.</summary>
    public static Guid LastSeeded { get; } = SeededId(uint.MaxValue);

    private readonly string prefix = $"{DatabaseOwner.NamePrefix}{Guid.NewGuid().ToString("N")[..8]}";
    private readonly ConcurrentDictionary<string, bool> made = new();
    private int empty;

    /// <param name="server">Connection string of a role that may create databases.</param>
    public KitDatabases(string server) => Server = server;

    public string Server { get; }

    private string Template => $"{prefix}_template";

    private string Queue => $"{prefix}_queue";

    private string Widgets => $"{prefix}_widgets";

    /// <summary>Fills the template, in batches of <see cref="BatchRows"/> rows by binary COPY.</summary>
    /// <returns>The duration.</returns>
    /// <exception cref="NpgsqlException">The server refused, or is full.</exception>
    public async Task<TimeSpan> SeedAsync(int rows, IProgress<int> progress, CancellationToken cancellationToken)
    {
        await CreateAsync(Template, template: null, cancellationToken);
        await using var source = NpgsqlDataSource.Create(ConnectionTo(Template));
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await ExecuteAsync(connection, CreateTable, cancellationToken);
        var watch = Stopwatch.StartNew();
        var first = DateTime.UtcNow - TimeSpan.FromMilliseconds(rows);
        for (var seeded = 0; seeded < rows; seeded += BatchRows)
        {
            cancellationToken.ThrowIfCancellationRequested();
            var batch = Math.Min(BatchRows, rows - seeded);
            Copy(connection, first.AddMilliseconds(seeded), seeded, batch);
            progress.Report(seeded + batch);
        }

        watch.Stop();
        // Every round starts from a copy of these pages: frozen and analysed once, not in the middle of a drain.
        await ExecuteAsync(connection, "VACUUM (FREEZE, ANALYZE) widget", cancellationToken);
        return watch.Elapsed;
    }

    /// <summary>Copies the template and creates the queue's database, for one round at a time.</summary>
    public Task<RoundDatabases> RestoreAsync(CancellationToken cancellationToken) => MakeAsync(Queue, Widgets, Template, cancellationToken);

    async Task<IRoundStore> IWidgetStore.RestoreAsync(CancellationToken cancellationToken) => await RestoreAsync(cancellationToken);

    async Task<IRoundStore> IWidgetStore.CreateEmptyAsync(CancellationToken cancellationToken) => await CreateEmptyAsync(cancellationToken);

    /// <summary>Creates the databases of a round without rows. There can be several at a time.</summary>
    public async Task<RoundDatabases> CreateEmptyAsync(CancellationToken cancellationToken)
    {
        var number = Interlocked.Increment(ref empty);
        var databases = await MakeAsync($"{Queue}_{number}", $"{Widgets}_{number}", template: null, cancellationToken);
        await using var source = NpgsqlDataSource.Create(databases.Widgets);
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await ExecuteAsync(connection, CreateTable, cancellationToken);
        return databases;
    }

    /// <summary>Drops a database of this run, after rolling back prepared transactions, with which it could not be dropped.</summary>
    public async Task DropAsync(string database)
    {
        await DatabaseOwner.DropAsync(Server, database, CancellationToken.None);
        made.TryRemove(database, out _);
    }

    /// <summary>
    /// Drops all databases of the run, also those of a round that was stopped while it was restored and does not own them yet. What the server does not drop
    /// the next run drops or names.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        foreach (var database in made.Keys)
            await DatabaseOwner.TryDropAsync(Server, database, CancellationToken.None);
    }

    private async Task<RoundDatabases> MakeAsync(string queue, string widgets, string? template, CancellationToken cancellationToken)
    {
        var databases = new RoundDatabases(this, ConnectionTo(queue), ConnectionTo(widgets));
        foreach (var database in databases.Names)
            await DropAsync(database);

        await CreateAsync(widgets, template, cancellationToken);
        await CreateAsync(queue, template: null, cancellationToken);
        return databases;
    }

    private static void Copy(NpgsqlConnection connection, DateTime first, int seeded, int rows)
    {
        // Without await: a million rows are two million values.
        using var copy = connection.BeginBinaryImport("COPY widget (id, message_id) FROM STDIN (FORMAT BINARY)");
        for (var row = 0; row < rows; row++)
        {
            copy.StartRow();
            copy.Write(WidgetId.LowestAt(first.AddMilliseconds(row)), NpgsqlDbType.Bigint);
            copy.Write(SeededId((uint)(seeded + row)), NpgsqlDbType.Uuid);
        }

        copy.Complete();
    }

    /// <summary>The message id of a seeded row. Message ids begin with the time, so no message has an id that begins with zeros.</summary>
    internal static Guid SeededId(uint row)
    {
        Span<byte> bytes = stackalloc byte[16];
        bytes.Clear();
        BinaryPrimitives.WriteUInt32BigEndian(bytes[12..], row);
        return new Guid(bytes, bigEndian: true);
    }

    private string ConnectionTo(string database) => new NpgsqlConnectionStringBuilder(Server) { Database = database }.ConnectionString;

    private Task CreateAsync(string database, string? template, CancellationToken cancellationToken)
    {
        made[database] = true;
        return DatabaseOwner.CreateAsync(Server, database, template, cancellationToken);
    }

    private static async Task ExecuteAsync(NpgsqlConnection connection, string statement, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(statement, connection) { CommandTimeout = 0 };
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
