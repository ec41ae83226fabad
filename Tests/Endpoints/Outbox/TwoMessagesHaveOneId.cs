using System.Collections.Concurrent;
using System.Data.Common;
using Kit.Endpoints.Bare;
using Microsoft.Extensions.Logging;

namespace Kit.Tests.Outbox;

/// <summary>Messages with an id that another one has: a receiver with an outbox handles the first, and says what it did with the others.</summary>
[Parallelizable]
public sealed class TwoMessagesHaveOneId
{
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task The_second_is_not_handled_and_the_log_says_so(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var id = Guid.CreateVersion7();
        using var log = new Lines();
        using var endpoint = bench.Build(_ => [], log: log);
        await endpoint.StartAsync();

        for (var sent = 0; sent < 2; sent++)
        {
            await bench.SendAsync(id);
            await bench.DrainedAsync();
        }

        await endpoint.StopAsync();
        Assert.That(bench.Entered, Is.EqualTo(1));
        Assert.That(log.Texts, Has.One.StartsWith($"Message {id} is not handled: a message with its id was handled before."));
    }

    [Test]
    public void A_derived_id_is_the_same_each_time_and_of_one_message_endpoint_and_send()
    {
        var message = Guid.Parse("0197a3c4-5b6d-7000-8000-000000000001");
        Guid DeriveFrom(Guid of, string endpoint, string send) =>
            new MessageContext(new NoWork(), json: null, telemetry: null) { MessageId = of, Endpoint = endpoint }.DeriveId(send);

        var derived = DeriveFrom(message, "orders", "notify");

        Assert.That(derived, Is.EqualTo(DeriveFrom(message, "orders", "notify")).And.Not.EqualTo(message));
        Assert.That(derived.Version, Is.EqualTo(8));
        Assert.That(
            new[]
            {
                derived, DeriveFrom(Guid.CreateVersion7(), "orders", "notify"), DeriveFrom(message, "bills", "notify"), DeriveFrom(message, "orders", "bill"),
            },
            Is.Unique);
        Assert.That(() => DeriveFrom(Guid.Empty, "orders", "notify"), Throws.InvalidOperationException.With.Message.Contains("its sender must set it"));
    }

    [Test]
    public async Task The_endpoint_names_itself_in_what_its_handler_derives()
    {
        await using var bench = await OutboxBench.CreateAsync("postgresql");
        var (id, derived) = (Guid.CreateVersion7(), Guid.Empty);
        using var endpoint = bench.Build(_ => [], work: (context, _) =>
        {
            derived = context.DeriveId("notify");
            return Task.CompletedTask;
        });
        await endpoint.StartAsync();
        await bench.SendAsync(id);
        await bench.DrainedAsync();
        await endpoint.StopAsync();

        Assert.That(
            derived,
            Is.EqualTo(new MessageContext(new NoWork(), json: null, telemetry: null) { MessageId = id, Endpoint = OutboxBench.Endpoint }.DeriveId("notify")));
    }

    private sealed class NoWork : IWork
    {
        public Exception? Refusal => null;

        public ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

        public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => throw new NotSupportedException();

        public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken) => throw new NotSupportedException();
    }

    private sealed class Lines : ILoggerProvider, ILogger
    {
        private readonly ConcurrentQueue<string> texts = new();

        public IReadOnlyCollection<string> Texts => texts;

        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            texts.Enqueue(formatter(state, exception));

        public void Dispose()
        {
            // The texts are read after the host has ended.
        }
    }
}
