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

    private static async Task StartAsync(TransactionMode mode, string? data)
    {
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services.AddBareEndpoint("orders", endpoint => endpoint.UseSqlServer(Server, data).UseTransactionMode(mode).Handle<Order, OrderHandler>());
        using var host = builder.Build();
        await host.StartAsync();
    }

    private sealed record Order;

    private sealed class OrderHandler : IMessageHandler<Order>
    {
        public Task HandleAsync(Order message, MessageContext context, CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
