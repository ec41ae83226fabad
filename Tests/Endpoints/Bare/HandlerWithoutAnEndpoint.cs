using System.Data.Common;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>A unit test of a handler, as somebody writes it who uses the library.</summary>
[Parallelizable]
public sealed class HandlerWithoutAnEndpoint
{
    [Test]
    public async Task It_is_lent_what_the_test_gives_and_its_sends_are_kept()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var connection = new NpgsqlConnection(databases.Widgets);
        await connection.OpenAsync();
        await using var transaction = await connection.BeginTransactionAsync();
        var sends = new List<OutgoingMessage>();
        var context = new MessageContext(connection, sends, transaction) { Attempt = 2, Headers = new Dictionary<string, string> { ["tenant"] = "7" } };

        await new Handler().HandleAsync("widgets", context, CancellationToken.None);
        await transaction.RollbackAsync();

        Assert.That(await databases.CountRowsAsync(), Is.Zero);
        Assert.That(JsonSerializer.Deserialize<string>(sends.Single().Body), Is.EqualTo("widgets, attempt 2, tenant 7"));
        Assert.That(sends.Single().Queue, Is.EqualTo("billing"));
    }

    [Test]
    public async Task It_is_lent_the_participants_that_the_test_gives()
    {
        await using var billing = new NpgsqlConnection();
        var context = new MessageContext(
            new NpgsqlConnection(), new List<OutgoingMessage>(), participants: new Dictionary<string, DbConnection> { ["billing"] = billing });

        Assert.That(await context.GetConnectionAsync("billing", CancellationToken.None), Is.SameAs(billing));
        Assert.That(
            async () => await context.GetTransactionAsync("stock", CancellationToken.None), Throws.ArgumentException.With.Message.Contains("It has: billing."));
    }

    [Test]
    public async Task Its_reply_is_kept_with_the_queue_that_the_message_names()
    {
        var sends = new List<OutgoingMessage>();
        var context = new MessageContext(new NpgsqlConnection(), sends)
        {
            Headers = new Dictionary<string, string> { [OutgoingMessage.ReplyToHeader] = "shop" },
        };

        await context.ReplyAsync("built");

        Assert.That((sends.Single().Queue, sends.Single().ReplyTo), Is.EqualTo(("shop", default(string))));
    }

    [Test]
    public async Task Sends_that_it_awaits_together_are_all_kept()
    {
        const int Sends = 200_000;
        var sends = new List<OutgoingMessage>();
        var context = new MessageContext(new NpgsqlConnection(), sends);

        await Parallel.ForAsync(0, Sends, async (_, stop) => await context.SendAsync("billing", "widgets", cancellationToken: stop));

        Assert.That(sends, Has.Count.EqualTo(Sends).And.None.Null);
    }

    [TestCase(null)]
    [TestCase("")]
    public void Its_reply_to_a_message_that_names_no_queue_is_refused(string? queue)
    {
        var context = new MessageContext(new NpgsqlConnection(), new List<OutgoingMessage>())
        {
            Headers = queue is null ? new Dictionary<string, string>() : new() { [OutgoingMessage.ReplyToHeader] = queue },
        };

        Assert.That(
            async () => await context.ReplyAsync("built"),
            Throws.InvalidOperationException.With.Message.StartsWith("Expected the queue for a reply in the header 'reply-to' of message "));
    }

    private sealed class Handler : IMessageHandler<string>
    {
        public async Task HandleAsync(string message, MessageContext context, CancellationToken cancellationToken)
        {
            await using var insert = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
            insert.CommandText = "INSERT INTO widget (id, message_id) VALUES (1, gen_random_uuid())";
            insert.Transaction = await context.GetTransactionAsync(cancellationToken);
            await insert.ExecuteNonQueryAsync(cancellationToken);
            var invoice = $"{message}, attempt {context.Attempt}, tenant {context.Headers["tenant"]}";
            await context.SendAsync("billing", invoice, cancellationToken: cancellationToken);
        }
    }
}
