using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Tests.CommandLine;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.Operations;

/// <summary>Three messages that a handler failed at until they were given up.</summary>
[Parallelizable]
public sealed class DeadLettersInRabbitMq
{
    private static readonly IReadOnlyList<Guid> Ids = [.. Enumerable.Range(1, 3).Select(number => new Guid(number, 0, 0, new byte[8]))];

    private TestDatabases databases = null!;
    private TestVirtualHost broker = null!;
    private RabbitMqQueue queue = null!;

    private string Uri => RabbitMqAddress.Parse(broker.Address).Amqp.AbsoluteUri;

    [SetUp]
    public async Task GiveUpThree()
    {
        broker = await TestVirtualHost.CreateAsync();
        databases = await TestDatabases.CreateAsync();
        queue = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "work");
        await queue.CreateAsync(CancellationToken.None);
        foreach (var id in Ids)
            await queue.EnqueueAsync([OutgoingMessage.Create("work", new Todo(), id)], CancellationToken.None);

        await HandleAsync(_ => throw new InvalidOperationException("no stock"));
        Assert.That((await queue.ReadErrorsAsync(CancellationToken.None)).Select(error => error.MessageId), Is.EquivalentTo(Ids));
    }

    [TearDown]
    public async Task TearDown()
    {
        if (queue is not null)
            await queue.DisposeAsync();
        if (databases is not null)
            await databases.DisposeAsync();
        if (broker is not null)
            await broker.DisposeAsync();
    }

    [Test]
    public async Task All_go_back_and_have_all_their_attempts_again()
    {
        var failed = (await queue.ReadErrorsAsync(CancellationToken.None)).Select(error => error.MessageId).ToList();

        Assert.That(await queue.ReturnErrorsAsync(messageIds: null, CancellationToken.None), Is.EqualTo(failed));

        Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(failed));
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        var attempts = 0;
        await HandleAsync(id => id != Ids[0] || ++attempts == 3 ? Task.CompletedTask : throw new InvalidOperationException("not yet"));
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(attempts, Is.EqualTo(3));
    }

    [Test]
    public async Task Where_one_is_not_there_none_goes_back()
    {
        var unknown = Guid.NewGuid();

        var refusal = await Assert.ThrowsAsync<DeadLetterNotFoundException>(
            () => queue.ReturnErrorsAsync([Ids[0], unknown], CancellationToken.None));

        Assert.That(refusal!.MessageIds, Is.EqualTo(new[] { unknown }));
        Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.Empty);
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Has.Count.EqualTo(3));
    }

    [Test]
    public async Task A_queue_that_does_not_take_them_loses_none()
    {
        await DeleteAsync("work");

        await Assert.ThrowsAsync<BrokerException>(() => queue.ReturnErrorsAsync(messageIds: null, CancellationToken.None));

        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Has.Count.EqualTo(3));
    }

    [Test]
    public async Task The_command_lists_and_returns_them()
    {
        var list = await RunnerProcess.RunAsync("errors", "list", "--queue", "work", "--rabbitmq", Uri);
        Assert.That(list.ExitCode, Is.EqualTo(ExitCode.Success), list.Errors);
        Assert.That(
            list.Output,
            Does.Match($"(?m)^{Ids[1]}  3 +20..-..-.. ..:..:.. UTC  .*Todo.*  System.InvalidOperationException: no stock$"));
        Assert.That(list.Output, Does.EndWith("Dead letters of 'work': 3.\n"));

        var two = await ErrorsAsync("return", "--message", $"{Ids[2]}", "--message", $"{Ids[1]}");
        Assert.That(two.ExitCode, Is.EqualTo(ExitCode.Success), two.Errors);
        Assert.That(two.Output, Does.Contain($"Returned {Ids[1]}\n").And.Contain($"Returned {Ids[2]}\n"));
        Assert.That(two.Output, Does.EndWith("Returned to 'work': 2.\n"));
        Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EquivalentTo(new[] { Ids[1], Ids[2] }));
        Assert.That((await queue.ReadErrorsAsync(CancellationToken.None)).Single().MessageId, Is.EqualTo(Ids[0]));

        var missing = await ErrorsAsync("return", "--message", $"{Ids[1]}");
        Assert.That(missing.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(missing.Errors, Does.StartWith($"error: Not among the dead letters: {Ids[1]}. None was returned."));
    }

    [Test]
    public async Task A_queue_that_is_not_there_is_said()
    {
        var result = await OperatorsCommand.RunAsync("errors", "list", "--queue", "elsewhere", "--rabbitmq", Uri);

        Assert.That(result.ExitCode, Is.EqualTo(ExitCode.Failure));
        Assert.That(result.Errors, Does.StartWith("error: There is no queue 'elsewhere' in "));
        Assert.That(result.Errors, Does.Not.Contain(RabbitMqAddress.Parse(broker.Address).Password));
    }

    private Task<RunnerResult> ErrorsAsync(params string[] command) =>
        OperatorsCommand.RunAsync(["errors", .. command, "--queue", "work", "--rabbitmq", Uri]);

    private async Task HandleAsync(Func<Guid, Task> work)
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddSingleton(work).AddBareEndpoint("work", endpoint => endpoint
            .UseRabbitMq(broker.Address, databases.Widgets)
            .UseTransactionMode(TransactionMode.ScopeOff)
            .LimitConcurrency(1)
            .Handle<Todo, TodoHandler>());
        using var built = host.Build();
        await built.StartAsync();
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await built.StopAsync();
    }

    private async Task DeleteAsync(string name)
    {
        await using var connection = await Broker.ConnectAsync(RabbitMqAddress.Parse(broker.Address), "test", CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        await channel.QueueDeleteAsync(name, ifUnused: false, ifEmpty: false);
    }

    internal sealed record Todo;

    private sealed class TodoHandler(Func<Guid, Task> work) : IMessageHandler<Todo>
    {
        public Task HandleAsync(Todo message, MessageContext context, CancellationToken cancellationToken) => work(context.MessageId);
    }
}
