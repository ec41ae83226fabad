using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Outbox;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>The id of a message that a time-out keeps from being recorded. Nobody knows more about the reason than the server says.</summary>
[Parallelizable]
public sealed class IdIsNotRecordedInTime
{
    private static readonly Guid Message = Guid.CreateVersion7();

    private TestDatabases databases = null!;

    [SetUp]
    public async Task CreateOutbox()
    {
        databases = await TestDatabases.CreateAsync();
        await using var widgets = NpgsqlDataSource.Create(databases.Widgets);
        await new OutboxStore(widgets, OutboxBench.Endpoint, TransactionMode.Outbox.Isolation, retention: null).CreateAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task RemoveOutbox()
    {
        if (databases is not null)
            await databases.DisposeAsync();
    }

    [Test]
    public async Task Because_another_session_holds_it()
    {
        await using var other = new NpgsqlConnection(databases.Widgets);
        await other.OpenAsync();
        await using var handling = await other.BeginTransactionAsync();
        await using (var record = new NpgsqlCommand($"INSERT INTO orders_inbox (message_id) VALUES ('{Message}')", other))
            await record.ExecuteNonQueryAsync();

        Assert.That(await ReasonUnderAsync("lock_timeout=200"), Does.StartWith(
            $"The id of message {Message} was not recorded because another session holds a lock, " +
            "as one does that handles another delivery of the message. 55P03"));
    }

    [Test]
    public async Task Because_the_server_is_slow()
    {
        await TestDatabases.ExecuteAsync(
            databases.Widgets,
            """
            CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
            CREATE TRIGGER slow BEFORE INSERT ON orders_inbox FOR EACH ROW EXECUTE FUNCTION slow();
            """);

        Assert.That(await ReasonUnderAsync("statement_timeout=500"), Does.StartWith(
            $"The id of message {Message} was not recorded in time: " +
            "another session may be handling another delivery of the message, or the server is slow. 57014"));
    }

    private async Task<string> ReasonUnderAsync(string setting)
    {
        await using var data = NpgsqlDataSource.Create(
            new NpgsqlConnectionStringBuilder(databases.Widgets) { Options = $"-c {setting}" }.ConnectionString);
        var outbox = new OutboxStore(data, OutboxBench.Endpoint, TransactionMode.Outbox.Isolation, retention: null);
        await outbox.CreateAsync(CancellationToken.None);
        return (await Assert.ThrowsAsync<ServerRefusedException>(() => outbox.Handlers.IsHandledAsync(Message, CancellationToken.None)))!.Message;
    }
}
