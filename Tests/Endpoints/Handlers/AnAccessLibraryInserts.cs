using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.CompilerServices;
using Kit.Handlers;
using Npgsql;

namespace Kit.Tests.Handlers;

/// <summary>The contract of every access library, on a real PostgreSQL.</summary>
[TestFixtureSource(nameof(Here))]
[Parallelizable]
public sealed class AnAccessLibraryInserts(AccessLibrary library)
{
    private readonly string schema = string.Create(CultureInfo.InvariantCulture, $"access_{library.Name}_{Environment.ProcessId}");

    private string connectionString = null!;
    private NpgsqlDataSource source = null!;

    private static IEnumerable<AccessLibrary> Here => AccessLibrary.All.Where(library => library.Support.IsSupported);

    [OneTimeSetUp]
    public async Task CreateTable()
    {
        var server = await PostgreSqlServer.GetAsync();
        connectionString = new NpgsqlConnectionStringBuilder(server.ConnectionString) { SearchPath = schema }.ConnectionString;
        source = NpgsqlDataSource.Create(connectionString);
        await ExecuteAsync($"CREATE SCHEMA {schema}; CREATE TABLE {schema}.widget (id bigint PRIMARY KEY, message_id uuid NOT NULL)");
    }

    [OneTimeTearDown]
    public async Task DropTable()
    {
        if (source is null)
            return;
        await ExecuteAsync($"DROP SCHEMA {schema} CASCADE");
        await source.DisposeAsync();
    }

    [Test]
    public async Task One_row_with_the_widgets_values()
    {
        var widget = NewWidget();
        await using var connection = await source.OpenConnectionAsync();

        await library.CreateInsert().InsertAsync(connection, null, widget, CancellationToken.None);

        Assert.That(await RowsOfAsync(widget), Is.EqualTo(new[] { widget }));
    }

    [Test]
    public async Task On_its_own_it_is_committed_when_it_returns_and_the_connection_is_still_open()
    {
        var widget = NewWidget();
        await using var connection = await source.OpenConnectionAsync();

        await library.CreateInsert().InsertAsync(connection, null, widget, CancellationToken.None);

        Assert.That(connection.State, Is.EqualTo(System.Data.ConnectionState.Open));
        await using var status = new NpgsqlCommand("SELECT pg_current_xact_id_if_assigned() IS NULL", connection);
        Assert.That(await status.ExecuteScalarAsync(), Is.True, "no transaction is left open");
    }

    [Test]
    public async Task In_the_callers_transaction_it_leaves_no_row_when_that_rolls_back()
    {
        var widget = NewWidget();
        await using var connection = await source.OpenConnectionAsync();
        await using (var transaction = await connection.BeginTransactionAsync())
        {
            await library.CreateInsert().InsertAsync(connection, transaction, widget, CancellationToken.None);
            await transaction.RollbackAsync();
        }

        Assert.That(await RowsOfAsync(widget), Is.Empty);
    }

    [Test]
    public async Task In_the_callers_transaction_its_row_is_there_when_that_commits()
    {
        var widget = NewWidget();
        await using var connection = await source.OpenConnectionAsync();
        await using (var transaction = await connection.BeginTransactionAsync())
        {
            await library.CreateInsert().InsertAsync(connection, transaction, widget, CancellationToken.None);
            Assert.That(await RowsOfAsync(widget), Is.Empty, "not before the commit");
            await transaction.CommitAsync();
        }

        Assert.That(await RowsOfAsync(widget), Is.EqualTo(new[] { widget }));
    }

    [Test]
    public async Task One_insert_serves_two_workers_at_once()
    {
        var insert = library.CreateInsert();
        var widgets = Enumerable.Range(0, 200).Select(_ => NewWidget()).ToList();

        await Parallel.ForEachAsync(widgets, new ParallelOptions { MaxDegreeOfParallelism = 2 }, async (widget, cancellationToken) =>
        {
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            await insert.InsertAsync(connection, null, widget, cancellationToken);
        });

        foreach (var widget in widgets)
            Assert.That(await RowsOfAsync(widget), Has.Count.EqualTo(1));
    }

    [Test]
    public async Task A_row_that_the_database_refuses_is_thrown()
    {
        var widget = NewWidget();
        await using var connection = await source.OpenConnectionAsync();
        var insert = library.CreateInsert();
        await insert.InsertAsync(connection, null, widget, CancellationToken.None);

        var refused = await Assert.CatchAsync(async () => await insert.InsertAsync(connection, null, widget, CancellationToken.None));

        // A library can wrap it.
        Assert.That(refused!.GetBaseException(),
            Is.InstanceOf<PostgresException>().With.Property(nameof(PostgresException.SqlState)).EqualTo(PostgresErrorCodes.UniqueViolation));
    }

    [Test]
    [SuppressMessage("Reliability", "CA2025:Ensure tasks using 'IDisposable' instances complete before the instances are disposed",
        Justification = "It is waited for, without a state machine, which would keep the connection.")]
    public void It_keeps_no_connection()
    {
        var connection = Insert(library.CreateInsert(), connectionString);

        // A task that has just ended can refer to it for a moment.
        Assert.That(IsAlive, Is.False.After(60_000).PollEvery(50));

        bool IsAlive()
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
            GC.Collect();
            return connection.IsAlive;
        }

        // In a method of its own, and without a state machine, so that nothing else refers to the connection.
        [MethodImpl(MethodImplOptions.NoInlining)]
        static WeakReference Insert(IWidgetInsert insert, string database)
        {
            using var connection = new NpgsqlConnection(new NpgsqlConnectionStringBuilder(database) { Pooling = false }.ConnectionString);
            connection.Open();
            insert.InsertAsync(connection, null, NewWidget(), CancellationToken.None).GetAwaiter().GetResult();
            return new WeakReference(connection);
        }
    }

    private static Widget NewWidget() => new(WidgetId.Next(), Guid.NewGuid());

    private async Task<List<Widget>> RowsOfAsync(Widget widget)
    {
        await using var command = source.CreateCommand("SELECT id, message_id FROM widget WHERE message_id = $1");
        command.Parameters.AddWithValue(widget.MessageId);
        await using var reader = await command.ExecuteReaderAsync();
        var rows = new List<Widget>();
        while (await reader.ReadAsync())
            rows.Add(new(reader.GetInt64(0), reader.GetGuid(1)));
        return rows;
    }

    private async Task ExecuteAsync(string statement)
    {
        await using var command = source.CreateCommand(statement);
        await command.ExecuteNonQueryAsync();
    }
}
