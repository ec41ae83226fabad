using System.Transactions;
using Kit.Endpoints.Bare;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>An endpoint that is given the application's data source instead of a connection string.</summary>
[Parallelizable]
public sealed class EndpointOnADataSource
{
    private BareBench bench = null!;
    private NpgsqlDataSource queues = null!;
    private NpgsqlDataSource widgets = null!;
    private NpgsqlDataSource notEnlisting = null!;

    private static IEnumerable<TransactionMode> Modes => BareBench.Modes.Except(Refused);

    private static IReadOnlyList<TransactionMode> Refused => [TransactionMode.FullDtc, TransactionMode.FullDtcWaiting, TransactionMode.NpgsqlScope];

    [SetUp]
    public async Task SetUp()
    {
        bench = await BareBench.CreateAsync();
        queues = NpgsqlDataSource.Create(bench.Databases.Queue);
        // Marked, so that a handler sees whose connection it has; enlisting, as the driver does by default.
        widgets = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(bench.Databases.Widgets) { ApplicationName = "the application" });
        notEnlisting = NpgsqlDataSource.Create(
            new NpgsqlConnectionStringBuilder(bench.Databases.Widgets) { ApplicationName = "the application", Enlist = false });
    }

    [TearDown]
    public async Task TearDown()
    {
        await queues.DisposeAsync();
        await widgets.DisposeAsync();
        await notEnlisting.DisposeAsync();
        await bench.DisposeAsync();
    }

    [ModeSource(nameof(Modes))]
    public async Task Handlers_work_on_its_connections_and_it_is_not_disposed(TransactionMode mode)
    {
        var name = "";

        var errors = await bench.HandleAsync(
            mode,
            async (context, cancellationToken) =>
            {
                await using var insert = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
                insert.CommandText = "INSERT INTO widget (id, message_id) VALUES (1, gen_random_uuid()) RETURNING current_setting('application_name')";
                name = (string)(await insert.ExecuteScalarAsync(cancellationToken))!;
            },
            endpoint => Use(endpoint, mode));

        Assert.That(errors, Is.Empty);
        Assert.That(name, Is.EqualTo("the application"));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1));
        await Assert.ThatAsync(async () => await (await widgets.OpenConnectionAsync()).DisposeAsync(), Throws.Nothing);
    }

    [TestCase("scope-off")]
    [TestCase("transactions-off")]
    public async Task The_lent_connection_joins_no_scope_that_the_handler_opened_before(string mode)
    {
        var errors = await bench.HandleAsync(
            TransactionMode.Parse(mode),
            async (context, cancellationToken) =>
            {
                using var scope = new TransactionScope(TransactionScopeAsyncFlowOption.Enabled);
                await BareBench.InsertRowAsync(context, cancellationToken);
            },
            endpoint => endpoint.UsePostgreSql(queues, widgets));

        Assert.That(errors, Is.Empty);
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1), "The scope was not completed, and the row is not its own.");
    }

    [ModeSource(nameof(Modes))]
    public async Task A_handler_that_fails_leaves_what_its_mode_says(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(
            mode,
            async (context, cancellationToken) =>
            {
                await BareBench.InsertRowAsync(context, cancellationToken);
                throw new InvalidOperationException("As the test wants.");
            },
            endpoint => Use(endpoint, mode));

        Assert.That(errors, Has.Count.EqualTo(1));
        var stays = mode == TransactionMode.ScopeOff || mode == TransactionMode.TransactionsOff;
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(stays ? mode.Attempts : 0));
    }

    [TestCaseSource(nameof(Refused))]
    public async Task A_mode_that_opens_its_own_connections_is_refused(TransactionMode mode)
    {
        Assert.That(
            await bench.RefusalOfAsync(mode, endpoint => endpoint.UsePostgreSql(queues, widgets)),
            Does.Contain($"cannot run in {mode} on a data source").And.Contain("Pass connection strings to UsePostgreSql."));
    }

    [Test]
    public async Task In_dtc_off_one_that_enlists_is_refused() => Assert.That(
        await bench.RefusalOfAsync(TransactionMode.DtcOff, endpoint => endpoint.UsePostgreSql(queues, widgets)), Does.Contain("Add Enlist=false"));

    [Test]
    public async Task A_pool_that_workers_and_handlers_share_must_have_room_for_both()
    {
        using var small = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(bench.Databases.Widgets) { MaxPoolSize = 9, Enlist = false });

        Assert.That(
            await bench.RefusalOfAsync(TransactionMode.DtcOff, endpoint => endpoint.UsePostgreSql(small).LimitConcurrency(4)),
            Does.Contain("needs a Maximum Pool Size of at least 10").And.Contain("found 9"));
    }

    [TestCase("Multiplexing=true", "Multiplexing")]
    [TestCase("No Reset On Close=true", "No Reset On Close")]
    public async Task One_that_shares_sessions_is_refused(string setting, string named)
    {
        await using var shared = NpgsqlDataSource.Create($"{bench.Databases.Widgets};{setting}");

        Assert.That(
            () => bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask, configure: endpoint => endpoint.UsePostgreSql(shared)),
            Throws.ArgumentException.With.Message.Contains(named));
    }

    /// <summary>The driver does not reset them: the next message's handler would find the role and the search path that this one's has set.</summary>
    [Test]
    public async Task Sessions_that_handlers_would_share_are_refused()
    {
        var text = $"{bench.Databases.Widgets};Multiplexing=true";
        await using var shared = NpgsqlDataSource.Create(text);
        Action<BareEndpointBuilder>[] uses =
        [
            endpoint => endpoint.UsePostgreSql(text),
            endpoint => endpoint.UsePostgreSql(bench.Databases.Queue, text),
            endpoint => endpoint.UsePostgreSql(queues, shared),
            endpoint => endpoint.UseRabbitMq("amqp://127.0.0.1", text),
            endpoint => endpoint.UseRabbitMq("amqp://127.0.0.1", shared),
            endpoint => endpoint.AddParticipant("billing", text),
        ];

        using (Assert.EnterMultipleScope())
        {
            foreach (var use in uses)
            {
                Assert.That(
                    () => bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask, configure: use),
                    Throws.ArgumentException.With.Message.Contains("with Multiplexing=true shares sessions among commands"));
            }
        }
    }

    private void Use(BareEndpointBuilder endpoint, TransactionMode mode) =>
        _ = mode.NeedsOneDatabase ? endpoint.UsePostgreSql(widgets)
            : mode == TransactionMode.DtcOff ? endpoint.UsePostgreSql(queues, notEnlisting)
            : endpoint.UsePostgreSql(queues, widgets);
}
