using System.Data.Common;
using System.Transactions;
using Kit.Endpoints.Bare.SqlServer;
using Kit.Endpoints.Cells;
using Kit.Modes;
using Microsoft.Data.SqlClient;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using NServiceBus;
using NServiceBus.Settings;
using NServiceBus.Transport;

namespace Kit.Tests.NServiceBus;

/// <summary>What the cells on SQL Server set, before anything is opened; the contract suite tests what comes of it where there is a server.</summary>
public sealed class ConfiguredOnSqlServer
{
    private const string Widgets = "Server=127.0.0.1,1;Database=widgets;User ID=kit;Password=secret;Connect Timeout=1;Max Pool Size=100";
    private const string Queue = "Max Pool Size=100;" + Widgets + ";Database=queue";

    private static readonly NServiceBusOnSqlServer Kind = new();

    [TestCase("full-dtc", TransportTransactionMode.TransactionScope, 2, true, true)]
    [TestCase("full-dtc-promoted", TransportTransactionMode.TransactionScope, 2, true, true)]
    [TestCase("dtc-off", TransportTransactionMode.SendsAtomicWithReceive, 2, false, true)]
    [TestCase("scope-off", TransportTransactionMode.SendsAtomicWithReceive, 2, false, false)]
    [TestCase("transactions-off", TransportTransactionMode.None, 0, false, false)]
    public async Task Transaction_mode_retries_wrap_and_what_enlists_are_the_modes(
        string name, TransportTransactionMode expected, int retries, bool queueEnlists, bool widgetsEnlist)
    {
        var mode = TransactionMode.Parse(name);
        var host = Configured(mode, Widgets);
        await using var disposed = (IAsyncDisposable)host;

        var settings = host.Services.GetRequiredService<IReadOnlySettings>();

        var transport = TransportOf(host);
        using (Assert.EnterMultipleScope())
        {
            Assert.That(transport.TransportTransactionMode, Is.EqualTo(expected));
            Assert.That(transport.TransactionScope.IsolationLevel, Is.EqualTo(IsolationLevel.ReadCommitted));
            Assert.That(settings.Get<int>("Recoverability.Immediate.Retries"), Is.EqualTo(retries));
            Assert.That(settings.Get<int>("Recoverability.Delayed.DefaultPolicy.Retries"), Is.Zero);
            Assert.That(settings.ErrorQueueAddress(), Is.EqualTo("orders_error"));
            Assert.That(
                ConfiguredEndpoints.WrapOf(settings)?.IsolationLevel,
                mode == TransactionMode.DtcOff ? Is.EqualTo(IsolationLevel.ReadCommitted) : Is.Null);
            Assert.That(new SqlConnectionStringBuilder(transport.ConnectionString).Enlist, Is.EqualTo(queueEnlists));
            Assert.That(new SqlConnectionStringBuilder(WidgetsOf(host)).Enlist, Is.EqualTo(widgetsEnlist));
        }
    }

    [Test]
    public async Task In_full_dtc_transport_and_handler_have_the_very_same_text_so_that_they_share_a_pool()
    {
        var host = Configured(TransactionMode.FullDtc, "Database=widgets;" + Widgets);
        await using var disposed = (IAsyncDisposable)host;

        Assert.That(WidgetsOf(host), Is.EqualTo(TransportOf(host).ConnectionString));
    }

    [Test]
    public async Task Promoted_they_have_two_databases()
    {
        var host = Configured(TransactionMode.FullDtcPromoted, Queue);
        await using var disposed = (IAsyncDisposable)host;

        Assert.That(new SqlConnectionStringBuilder(TransportOf(host).ConnectionString).InitialCatalog, Is.EqualTo("queue"));
        Assert.That(new SqlConnectionStringBuilder(WidgetsOf(host)).InitialCatalog, Is.EqualTo("widgets"));
    }

    [TestCase("full-dtc")]
    [TestCase("full-dtc-promoted")]
    public void Promoted_it_is_refused_before_it_starts_where_there_is_no_MSDTC(string mode)
    {
        if (OperatingSystem.IsWindows())
            Assert.Ignore("Windows has MSDTC.");

        Assert.That(
            () => StartAsync(TransactionMode.Parse(mode), Queue),
            Throws.TypeOf<NotSupportedException>().With.Message.EqualTo(
                $"Endpoint 'orders' cannot run in {mode}: a transaction over two connections is promoted to MSDTC, which .NET supports only on Windows."));
    }

    [Test]
    public void Promoted_by_name_it_needs_two() => Assert.That(
        () => StartAsync(TransactionMode.FullDtcPromoted, Widgets),
        Throws.TypeOf<NotSupportedException>().With.Message.Contains("nothing would be promoted"));

    [TestCase("full-dtc")]
    [TestCase("dtc-off")]
    public void Else_it_goes_on_to_the_server(string mode) =>
        Assert.That(() => StartAsync(TransactionMode.Parse(mode), Widgets), Throws.TypeOf<SqlException>());

    [TestCase("full-dtc", null)]
    [TestCase("dtc-off", null)]
    [TestCase("scope-off", null)]
    [TestCase("transactions-off", null)]
    [TestCase("full-dtc-waiting", "NServiceBus has no such mode")]
    [TestCase("npgsql-scope", "NServiceBus has no such mode")]
    [TestCase("shared", "SqlClient requires the transaction on each command")]
    [TestCase("outbox", "the kit has not tried NServiceBus's outbox there")]
    public void Supported_or_the_reason_why_not(string mode, string? reason) =>
        Assert.That(Kind.Supports(TransactionMode.Parse(mode)).Because, reason is null ? Is.Null : Does.StartWith(reason));

    [Test]
    public void Promotion_is_supported_where_SQL_Server_s_is() =>
        Assert.That(Kind.Supports(TransactionMode.FullDtcPromoted), Is.EqualTo(SqlServerSupport.Promotion));

    private static SqlServerTransport TransportOf(IHost host) =>
        (SqlServerTransport)host.Services.GetRequiredService<IReadOnlySettings>().Get<TransportDefinition>();

    private static string WidgetsOf(IHost host) => host.Services.GetRequiredService<DbDataSource>().ConnectionString;

    private static async Task StartAsync(TransactionMode mode, string queue)
    {
        var host = Configured(mode, queue);
        await using var disposed = (IAsyncDisposable)host;
        await host.StartAsync();
    }

    private static IHost Configured(TransactionMode mode, string queue)
    {
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        Kind.AddEndpoint(builder.Services, new EndpointSettings("orders", queue, Widgets, mode, Concurrency: 2), (_, _, _) => Task.CompletedTask);
        return builder.Build();
    }
}
