using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.SqlServer;
using Kit.Modes;
using Microsoft.Data.SqlClient;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.SqlServer;

/// <summary>Whether full-dtc stays local or is promoted is decided by the connection strings, before anything is opened.</summary>
public sealed class OneConnectionStringOrTwo
{
    private const string Server = "Server=127.0.0.1,1;Database=widgets;User ID=kit;Password=secret;Connect Timeout=1";

    [Test]
    public void The_same_settings_are_one_however_they_are_written() => Assert.That(
        new SqlServerConnections(Server, "pwd=secret;uid=kit;Initial Catalog=widgets;Data Source=127.0.0.1,1;Connection Timeout=1").AreOne, Is.True);

    [Test]
    public void Without_a_second_one_there_is_one() => Assert.That(new SqlServerConnections(Server, dataConnectionString: null).AreOne, Is.True);

    [TestCase(";Database=other")]
    [TestCase(";Application Name=other")]
    [TestCase(";Max Pool Size=7")]
    public void Any_other_setting_makes_two(string more) => Assert.That(new SqlServerConnections(Server, Server + more).AreOne, Is.False);

    [Test]
    public void In_full_dtc_both_are_the_very_same_text_so_that_they_share_a_pool()
    {
        var connections = new SqlServerConnections(Server, "Database=widgets;" + Server);

        Assert.That(connections.ForQueue(TransactionMode.FullDtc), Is.EqualTo(connections.ForData(TransactionMode.FullDtc)));
    }

    [TestCase("full-dtc", true, true)]
    [TestCase("full-dtc-promoted", true, true)]
    [TestCase("dtc-off", false, true)]
    [TestCase("scope-off", false, false)]
    [TestCase("transactions-off", false, false)]
    public void Each_mode_enlists_what_belongs_to_the_scope(string mode, bool queue, bool data)
    {
        var connections = new SqlServerConnections(Server, dataConnectionString: null);

        Assert.That(new SqlConnectionStringBuilder(connections.ForQueue(TransactionMode.Parse(mode))).Enlist, Is.EqualTo(queue));
        Assert.That(new SqlConnectionStringBuilder(connections.ForData(TransactionMode.Parse(mode))).Enlist, Is.EqualTo(data));
    }

    [Test]
    public void An_enlisted_connection_does_nothing_more_when_its_transaction_has_timed_out() => Assert.That(
        new SqlConnectionStringBuilder(new SqlServerConnections(Server, null).ForData(TransactionMode.DtcOff)).TransactionBinding,
        Is.EqualTo("Explicit Unbind"));

    [Test]
    public void Promoted_it_is_refused_before_it_starts_where_there_is_no_MSDTC()
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("Windows has MSDTC.");

        Assert.That(
            () => StartAsync(TransactionMode.FullDtc, Server + ";Database=other"),
            Throws.TypeOf<NotSupportedException>().With.Message.EqualTo(
                "Endpoint 'orders' cannot run in full-dtc: a transaction over two connections is promoted to MSDTC, which .NET supports only on Windows."));
    }

    [Test]
    public void Promoted_by_name_it_needs_two() => Assert.That(
        () => StartAsync(TransactionMode.FullDtcPromoted, data: null),
        Throws.TypeOf<NotSupportedException>().With.Message.Contains("nothing would be promoted"));

    [Test]
    public void Local_it_goes_on_to_the_server() => Assert.That(() => StartAsync(TransactionMode.FullDtc, data: null), Throws.TypeOf<SqlException>());

    [TestCase(";Pooling=false")]
    [TestCase(";Connection Lifetime=60")]
    public void Local_it_is_refused_where_its_session_would_not_be_the_next_ones(string more) => Assert.That(
        () => StartAsync(TransactionMode.FullDtc, data: null, Server + more),
        Throws.TypeOf<NotSupportedException>().With.Message.Contains("a second session would need MSDTC"));

    [TestCase("transactions-off", 3, "a Max Pool Size of at least 4 in the connection string of its queue and its handlers' data, found 3.")]
    [TestCase("scope-off", 3, "a Max Pool Size of at least 4 in the connection string of its queue and its handlers' data, found 3.")]
    [TestCase("dtc-off", 1, "a Max Pool Size of at least 2 in the connection string of its queue, found 1.")]
    [TestCase("full-dtc", 1, "a Max Pool Size of at least 2 in the connection string of its queue and its handlers' data, found 1.")]
    public void A_pool_in_which_workers_would_wait_for_each_other_is_refused(string mode, int size, string needed) => Assert.That(
        () => StartAsync(TransactionMode.Parse(mode), data: null, $"{Server};Max Pool Size={size}"),
        Throws.InvalidOperationException.With.Message.EqualTo(
            $"Endpoint 'orders' at concurrency 2 needs {needed} Raise it, or lower the concurrency."));

    [TestCase("transactions-off", ";Max Pool Size=4")]
    [TestCase("transactions-off", ";Pooling=false;Max Pool Size=1")]
    [TestCase("dtc-off", ";Max Pool Size=2")]
    [TestCase("full-dtc", ";Max Pool Size=2")]
    public void Another_pool_goes_on_to_the_server(string mode, string more) =>
        Assert.That(() => StartAsync(TransactionMode.Parse(mode), data: null, Server + more), Throws.TypeOf<SqlException>());

    private static async Task StartAsync(TransactionMode mode, string? data, string queues = Server)
    {
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services.AddBareEndpoint("orders", endpoint => endpoint
            .UseSqlServer(queues, data).UseTransactionMode(mode).LimitConcurrency(2).Handle<Order, OrderHandler>());
        using var host = builder.Build();
        await host.StartAsync();
    }

    private sealed record Order;

    private sealed class OrderHandler : IMessageHandler<Order>
    {
        public Task HandleAsync(Order message, MessageContext context, CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
