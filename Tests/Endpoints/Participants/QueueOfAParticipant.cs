using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Kit.Runner.Wire;
using Kit.Tests.Bare;
using Kit.Tests.TwoPhase;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Kit.Tests.Participants;

/// <summary>A handler sends to a queue in the database of a participant, in its branch.</summary>
[Parallelizable]
public sealed class QueueOfAParticipant : OnThreeServers
{
    private PostgreSqlQueue invoices = null!;
    private ServiceProvider services = null!;

    [SetUp]
    public async Task CreateQueue()
    {
        invoices = await CreateInvoicesAsync();
        services = new ServiceCollection()
            .AddPostgreSqlMessageSender(Bench.QueueConnection)
            .AddKeyedPostgreSqlMessageSender(Participant, BillingConnection)
            .BuildServiceProvider();
    }

    [TearDown]
    public async Task RemoveQueue()
    {
        if (services is not null)
            await services.DisposeAsync();
        if (invoices is not null)
            await invoices.DisposeAsync();
    }

    private IMessageSender Sender => services.GetRequiredKeyedService<IMessageSender>(Participant);

    [Test]
    public async Task Each_message_is_sent_there_once_and_has_one_row_in_each_database()
    {
        await StartAsync(InsertInBothAndSendAsync);
        var messages = await Bench.EnqueueAsync(30);
        await DrainedAsync();

        await IsHandledOnceAsync(messages);
    }

    [Test]
    public async Task A_failed_attempt_has_sent_nothing()
    {
        var attempts = 0;
        await StartAsync(async (context, cancellationToken) =>
        {
            await InsertInBothAndSendAsync(context, cancellationToken);
            if (Interlocked.Increment(ref attempts) < TransactionMode.FullDtc.Attempts)
                throw new InvalidOperationException("not yet");
        });
        var messages = await Bench.EnqueueAsync(1);
        await DrainedAsync();

        await IsHandledOnceAsync(messages);
        Assert.That(attempts, Is.EqualTo(TransactionMode.FullDtc.Attempts));
    }

    /// <summary>The queue's server gets the decision when the participant's has crashed and runs again.</summary>
    [Test]
    public async Task A_crash_of_its_server_between_prepare_and_decision_loses_and_doubles_nothing()
    {
        await using var proxy = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(Bench.QueueConnection).Port);
        var attempts = 0;
        await StartAsync(
            async (context, cancellationToken) =>
            {
                await TwoPhaseBench.InsertAsync(context, cancellationToken);
                await InsertInBillingAsync(context, cancellationToken);
                await SendInBillingAsync(Sender, context, cancellationToken);
                if (Interlocked.Increment(ref attempts) == 1)
                    proxy.Stall(Traffic.ToServer);
            },
            configure: endpoint => endpoint.LimitConcurrency(1).RecoveryInterval = TimeSpan.FromMilliseconds(100),
            queue: new NpgsqlConnectionStringBuilder(Bench.QueueConnection) { Port = proxy.Port }.ConnectionString);
        var message = (await Bench.EnqueueAsync(1)).Single();
        await Eventually.HoldsAsync(
            async () => await Bench.Data.CountPreparedAsync() == 1 && await Billing.CountPreparedAsync() == 1, "both branches are prepared");
        await BillingServer.StopImmediatelyAsync(CancellationToken.None);
        await BillingServer.RestartAsync(CancellationToken.None);
        Assert.That(await Billing.CountPreparedAsync(), Is.EqualTo(1), "not decided");
        proxy.Resume(Traffic.ToServer);
        await DrainedAsync();

        Assert.That(attempts, Is.EqualTo(1));
        Assert.That((await Bench.Data.CountRowsAsync(message), await Billing.CountRowsAsync(message)), Is.EqualTo((1, 1)));
        Assert.That(await invoices.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { message }));
    }

    [Test]
    public Task A_queue_that_is_not_there_fails_the_message() => FailsAsync(
        (context, cancellationToken) => SendInBillingAsync(Sender, context, cancellationToken, "nowhere"), "There is no queue 'nowhere' in database");

    /// <summary>There is a table of that name, too.</summary>
    [Test]
    public async Task A_sender_to_queues_on_another_server_fails_the_message()
    {
        await using var elsewhere = new PostgreSqlQueue(Bench.QueueConnection, Invoices);
        await elsewhere.CreateAsync(CancellationToken.None);

        await FailsAsync(
            (context, cancellationToken) => SendInBillingAsync(services.GetRequiredService<IMessageSender>(), context, cancellationToken),
            "so the message to 'invoices' was not sent");

        Assert.That(await elsewhere.CountAsync(CancellationToken.None), Is.Zero);
    }

    [Test]
    public Task A_send_without_the_participants_transaction_fails_the_message() => FailsAsync(
        (_, cancellationToken) => Sender.SendAsync(Invoices, "an invoice", cancellationToken: cancellationToken), "There is an ambient transaction");

    [Test]
    public void A_key_is_given_once() => Assert.That(
        () => new ServiceCollection().AddKeyedPostgreSqlMessageSender("a", BillingConnection).AddKeyedPostgreSqlMessageSender("a", BillingConnection),
        Throws.InvalidOperationException.With.Message.Contains("an IMessageSender with the key 'a'"));

    private async Task InsertInBothAndSendAsync(MessageContext context, CancellationToken cancellationToken)
    {
        await InsertInBothAsync(context, cancellationToken);
        await SendInBillingAsync(Sender, context, cancellationToken);
    }

    private async Task IsHandledOnceAsync(IReadOnlyCollection<Guid> messages)
    {
        await HasExactlyOneEffectOfEachAsync(messages);
        Assert.That(await invoices.ReadMessagesAsync(CancellationToken.None), Is.EquivalentTo(messages));
    }

    private async Task FailsAsync(Work send, string because)
    {
        await StartAsync(async (context, cancellationToken) =>
        {
            await InsertInBothAsync(context, cancellationToken);
            await send(context, cancellationToken);
        });
        await Bench.EnqueueAsync(1);
        await Eventually.HoldsAsync(async () => (await ReadErrorsAsync()).Count == 1, "the message is given up");

        Assert.That((await ReadErrorsAsync()).Single().Reason, Does.Contain(because));
        Assert.That((await Bench.Data.CountRowsAsync(), await Billing.CountRowsAsync(), await Bench.CountSendsAsync()), Is.EqualTo((0, 0, 0)));
        Assert.That(await invoices.CountAsync(CancellationToken.None), Is.Zero);
    }

    private Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync() => Bench.Queue.ReadErrorsAsync(CancellationToken.None);
}
