using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Modes;
using Kit.Runner.Wire;
using Kit.Tests.TwoPhase;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using Npgsql.Replication;

namespace Kit.Tests.Participants;

/// <summary>A participant must have all that the handlers' own database must have, and is named when it has not.</summary>
[Exhaustive, Parallelizable]
public sealed class ParticipantsThatDoNotFit : OnThreeServers
{
    private const string Named = "participant 'billing'";

    [TestCase("")]
    [TestCase("Billing")]
    [TestCase("billing/1")]
    [TestCase("billing'")]
    [TestCase("a-name-that-is-longer-than-30-c")]
    public void A_name_that_a_branch_cannot_have_is_refused(string name) => Assert.That(
        () => new ServiceCollection().AddBareEndpoint("work", endpoint => endpoint.AddParticipant(name, BillingConnection)),
        Throws.ArgumentException.With.Message.Contains("a to z"));

    [Test]
    public async Task A_name_is_given_once() => await Assert.ThatAsync(
        () => StartAsync(configure: endpoint => endpoint.AddParticipant(Participant, BillingConnection)),
        Throws.InvalidOperationException.With.Message.Contains("already has a participant 'billing'"));

    [TestCase("dtc-off")]
    [TestCase("scope-off")]
    [TestCase("transactions-off")]
    [TestCase("npgsql-scope")]
    [TestCase("outbox")]
    [TestCase("shared")]
    public async Task Another_mode_is_refused(string mode) => await Assert.ThatAsync(
        () => StartAsync(configure: endpoint => endpoint.UseTransactionMode(TransactionMode.Parse(mode))),
        Throws.InstanceOf<NotSupportedException>().With.Message.Contains("AddParticipant").And.Message.Contains("full-dtc"));

    [Test]
    public async Task Batches_are_refused() => await Assert.ThatAsync(
        () => StartAsync(configure: endpoint => endpoint.ReceiveInBatches(2)),
        Throws.InstanceOf<NotSupportedException>().With.Message.Contains("AddParticipant").And.Message.Contains("batch"));

    [Test]
    public async Task A_flush_less_is_refused() => await Assert.ThatAsync(
        () => StartAsync(configure: endpoint => endpoint.FlushLog(LogFlush.Last)),
        Throws.InstanceOf<NotSupportedException>().With.Message.Contains("AddParticipant").And.Message.Contains("flush"));

    [Test]
    public async Task Another_transport_is_refused()
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddBareEndpoint("work", endpoint => endpoint
            .UseRabbitMq("amqp://127.0.0.1:9/", Bench.DataConnection)
            .AddParticipant(Participant, BillingConnection)
            .UseTransactionMode(TransactionMode.DtcOff)
            .Handle<string, Handler>());
        var built = host.Build();
        await using ((IAsyncDisposable)built)
            await Assert.ThatAsync(() => built.StartAsync(), Throws.InstanceOf<NotSupportedException>().With.Message.Contains("AddParticipant"));
    }

    [Test]
    public async Task A_pool_smaller_than_the_concurrency_is_refused() => await RefusesAsync(
        new NpgsqlConnectionStringBuilder(BillingConnection) { Pooling = true, MaxPoolSize = 1 }.ConnectionString, "Maximum Pool Size");

    [Test]
    public async Task A_list_of_hosts_is_refused()
    {
        var hosts = new NpgsqlConnectionStringBuilder(BillingConnection) { TargetSessionAttributes = "primary" };
        hosts.Host = $"127.0.0.1:{hosts.Port},127.0.0.1:{hosts.Port}";
        await RefusesAsync(hosts.ConnectionString, "list of hosts");
    }

    [Test]
    public async Task A_pooler_of_transactions_is_refused()
    {
        await using var bouncer = await PrivatePgBouncer.StartAsync(BillingServer.ConnectionString, "transaction");
        await Assert.ThatAsync(
            () => StartAsync(billing: bouncer.ConnectionTo(BillingConnection)), Throws.InvalidOperationException.With.Message.Contains("transaction pooling"));
    }

    [TestCase("synchronous_commit", "local")]
    [TestCase("synchronous_commit", "off")]
    public async Task A_database_whose_commits_do_not_wait_is_refused(string setting, string value)
    {
        await TestDatabases.ExecuteAsync(
            BillingConnection, $"ALTER DATABASE {new NpgsqlConnectionStringBuilder(BillingConnection).Database} SET {setting} = {value}");
        await RefusesAsync(BillingConnection, $"{setting} = {value}");
    }

    [Test]
    public async Task A_server_that_prepares_nothing_is_refused()
    {
        await using var server = await ServerOfFewSlots.StartAsync(5);
        await RefusesAsync(server.ConnectionString, "at least 6");
        Assert.That(
            await TestDatabases.ScalarAsync(Bench.QueueConnection, "SELECT count(*)::int FROM kit_participant"), Is.Zero, "no branch can be there");
    }

    /// <summary>Two workers need six slots for each of the two databases.</summary>
    [Test]
    public async Task A_server_with_the_slots_of_one_database_is_refused_for_two()
    {
        await using var server = await ServerOfFewSlots.StartAsync(11);
        await TestDatabases.ExecuteAsync(server.ConnectionString, "CREATE DATABASE one");
        await TestDatabases.ExecuteAsync(server.ConnectionString, "CREATE DATABASE other");
        await Assert.ThatAsync(
            () => Bench.StartAsync(data: Of("one"), configure: endpoint => endpoint.AddParticipant(Participant, Of("other"))),
            Throws.InvalidOperationException.With.Message.Contains("at least 12"));

        string Of(string database) => new NpgsqlConnectionStringBuilder(server.ConnectionString) { Database = database, Pooling = false }.ConnectionString;
    }

    [Test]
    public async Task A_database_is_no_participant_twice() => await RefusesAsync(Bench.DataConnection, "are one database");

    [Test]
    public async Task A_standby_that_nobody_waits_for_is_refused_or_accepted_and_one_that_comes_later_is_reported()
    {
        EndpointStatus status = null!;
        await StartAsync(configure: endpoint =>
        {
            endpoint.RecoveryInterval = TimeSpan.FromMilliseconds(10);
            status = endpoint.Status;
        });
        await using var standby = new PhysicalReplicationConnection(BillingServer.ConnectionString);
        await standby.Open();
        await Eventually.HoldsAsync(() => status.Missing()?.Contains(Named, StringComparison.Ordinal) is true, "it is reported");
        await Bench.StopAsync();

        await RefusesAsync(BillingConnection, "does not wait for 1 of the standbys");
        var messages = await Bench.EnqueueAsync(1);
        await StartAsync(configure: endpoint => endpoint.AcceptAsynchronousStandbys());
        await DrainedAsync();
        await HasExactlyOneEffectOfEachAsync(messages);
    }

    [Test]
    public async Task A_clone_of_its_server_is_refused()
    {
        await StartAsync();
        await Bench.StopAsync();
        await using var clone = await PrivateClone.OfAsync(BillingServer);
        await StartAsync();
        await Bench.StopAsync();

        await RefusesAsync(clone.ConnectionTo(BillingConnection), "did not take part together");
    }

    /// <summary>As a freeze of its provider does it. The message is not the handler's to lose.</summary>
    [Test]
    public async Task While_it_is_read_only_messages_wait()
    {
        var attempts = 0;
        await StartAsync(async (context, cancellationToken) =>
        {
            Interlocked.Increment(ref attempts);
            await InsertInBothAsync(context, cancellationToken);
        });
        var database = new NpgsqlConnectionStringBuilder(BillingConnection).Database;
        await TestDatabases.ExecuteAsync(BillingServer.ConnectionString, $"ALTER DATABASE {database} SET default_transaction_read_only = on");
        await TestDatabases.ExecuteAsync(
            BillingServer.ConnectionString, $"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'");
        var messages = await Bench.EnqueueAsync(1);
        await Eventually.HoldsAsync(() => Volatile.Read(ref attempts) > 3, "it was tried more often than a message may fail");
        await TestDatabases.ExecuteAsync(BillingServer.ConnectionString, $"ALTER DATABASE {database} RESET default_transaction_read_only");
        await DrainedAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
    }

    [Test]
    public async Task While_it_has_no_slot_messages_wait()
    {
        await using var server = await ServerOfFewSlots.StartAsync(6);
        var few = new NpgsqlConnectionStringBuilder(server.ConnectionString) { Pooling = false };
        await TestDatabases.ExecuteAsync(few.ConnectionString, "CREATE TABLE widget (id bigint PRIMARY KEY, message_id uuid NOT NULL)");
        await StartAsync(billing: few.ConnectionString);
        for (var slot = 0; slot < 6; slot++)
            await TestDatabases.ExecuteAsync(few.ConnectionString, $"BEGIN; PREPARE TRANSACTION 'other{slot}'");
        var messages = await Bench.EnqueueAsync(5);
        await Eventually.HoldsAsync(
            () => Bench.Log.Any(line => line.Contains("slots for prepared transactions are in use", StringComparison.Ordinal)), "it waits for a slot");
        for (var slot = 0; slot < 6; slot++)
            await TestDatabases.ExecuteAsync(few.ConnectionString, $"ROLLBACK PREPARED 'other{slot}'");
        await Bench.DrainedAsync();

        await Bench.HasExactlyOneEffectOfEachAsync(messages);
        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(few.ConnectionString, "SELECT count(*)::int FROM widget") == 5, "its rows are there");
    }

    /// <summary>The prepare has found no slot on one server, and the slots of the other, which the messages do not need, cannot be counted.</summary>
    [Test]
    public async Task While_it_is_away_messages_that_wait_for_a_slot_of_another_go_on_without_it()
    {
        await using var server = await ServerOfFewSlots.StartAsync(6);
        var few = new NpgsqlConnectionStringBuilder(server.ConnectionString) { Pooling = false };
        await TestDatabases.ExecuteAsync(few.ConnectionString, "CREATE TABLE widget (id bigint PRIMARY KEY, message_id uuid NOT NULL)");
        await using var proxy = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(BillingConnection).Port);
        var away = new NpgsqlConnectionStringBuilder(BillingConnection) { Port = proxy.Port };
        // A pass of recovery would count the slots, and no prepare would be refused.
        await Bench.StartAsync(
            data: few.ConnectionString,
            configure: endpoint => endpoint.AddParticipant(Participant, away.ConnectionString).RecoveryInterval = TimeSpan.FromHours(1));
        for (var slot = 0; slot < 6; slot++)
            await TestDatabases.ExecuteAsync(few.ConnectionString, $"BEGIN; PREPARE TRANSACTION 'other{slot}'");
        proxy.RefuseConnections();
        await proxy.EndAllAsync(Ending.Reset);
        await Bench.EnqueueAsync(5);
        await Eventually.HoldsAsync(
            () => Bench.Log.Any(line => line.Contains("slots for prepared transactions are in use", StringComparison.Ordinal)), "it waits for a slot");
        for (var slot = 0; slot < 6; slot++)
            await TestDatabases.ExecuteAsync(few.ConnectionString, $"ROLLBACK PREPARED 'other{slot}'");

        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(few.ConnectionString, "SELECT count(DISTINCT message_id)::int FROM widget") == 5, "they are handled");
    }

    private async Task RefusesAsync(string billing, string because) => await Assert.ThatAsync(
        () => StartAsync(billing: billing), Throws.InvalidOperationException.With.Message.Contains(because).And.Message.Contains(Named));

    private sealed class Handler : IMessageHandler<string>
    {
        public Task HandleAsync(string message, MessageContext context, CancellationToken cancellationToken) => Task.CompletedTask;
    }
}
