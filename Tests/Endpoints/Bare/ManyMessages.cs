using System.Collections.Concurrent;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Handlers;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>Forty messages in one queue on PostgreSQL, one of which can misbehave, and one worker.</summary>
public abstract class ManyMessages
{
    protected const int Messages = 40;
    protected const int Misbehaving = 25;

    private readonly List<Guid> ids = [.. Enumerable.Range(0, Messages).Select(_ => Guid.CreateVersion7())];

    protected IReadOnlyList<Guid> Ids => ids;

    protected Guid Misbehaver => ids[Misbehaving];

    private protected BareBench Bench { get; private set; } = null!;

    [SetUp]
    public async Task SetUp() => Bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await Bench.DisposeAsync();

    /// <summary>What the endpoint of these tests has set.</summary>
    protected abstract void Configure(BareEndpointBuilder endpoint);

    /// <summary>Handles the messages to their end.</summary>
    private protected async Task<IReadOnlyList<DeadLetter>> HandleAsync(TransactionMode mode, Work work, Action<BareEndpointBuilder>? configure = null)
    {
        var queue = await FillAsync(mode);
        using var host = Bench.Build(mode, work, configure: endpoint =>
        {
            Configure(endpoint);
            configure?.Invoke(endpoint);
        });
        await host.StartAsync();
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();
        return await queue.ReadErrorsAsync(CancellationToken.None);
    }

    /// <summary>Handles the messages until the one that misbehaves waits. Then the host stops, and does not wait for handlers.</summary>
    private protected async Task<PostgreSqlQueue> StopAtMisbehavingAsync(TransactionMode mode, Work work, Func<CancellationToken, Task> wait)
    {
        var begun = new TaskCompletionSource();
        var queue = await FillAsync(mode);
        using var host = Bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                await work(context, cancellationToken);
                if (context.MessageId != Misbehaver)
                    return;
                begun.SetResult();
                await wait(cancellationToken);
            },
            configure: endpoint =>
            {
                Configure(endpoint);
                // However long the machine keeps a handler from ending that was told to.
                endpoint.StopPatience = TimeSpan.FromMinutes(1);
            });
        await host.StartAsync();
        await begun.Task.WaitAsync(Eventually.Limit);
        await host.StopAsync(new CancellationToken(canceled: true));
        return queue;
    }

    private protected async Task HandlesEachOnceInOrderAsync(TransactionMode mode)
    {
        var handled = new ConcurrentQueue<Guid>();

        var errors = await HandleAsync(mode, (context, cancellationToken) =>
        {
            handled.Enqueue(context.MessageId);
            return InsertAsync(context, cancellationToken);
        });

        Assert.That(errors, Is.Empty);
        Assert.That(handled, Is.EqualTo(ids));
        await HasRowsAsync();
    }

    /// <summary>Lets the one misbehave after its insert, and expects that it is given up alone after the attempts of the mode.</summary>
    private protected async Task GivesUpOneAloneAsync(TransactionMode mode, int rows, Work misbehave)
    {
        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == Misbehaver)
                await misbehave(context, cancellationToken);
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(rows);
    }

    private protected void IsGivenUpAlone(IReadOnlyList<DeadLetter> errors, int attempts) =>
        Assert.That(errors.Select(error => (error.MessageId, error.FailedAttempts)), Is.EqualTo(new[] { (Misbehaver, (int?)attempts) }));

    protected async Task HasRowsAsync(int ofMisbehaving = 1)
    {
        var rows = new Dictionary<Guid, int>(await Bench.Databases.ReadRowsByMessageAsync());
        Assert.That(rows.GetValueOrDefault(Misbehaver), Is.EqualTo(ofMisbehaving));
        rows.Remove(Misbehaver, out _);
        Assert.That(rows.Keys, Is.EquivalentTo(ids.Where(id => id != Misbehaver)));
        Assert.That(rows.Values, Is.All.EqualTo(1));
    }

    protected static Task InsertAsync(MessageContext context, CancellationToken cancellationToken) =>
        ExecuteAsync(context, $"INSERT INTO widget (id, message_id) VALUES ({WidgetId.Next()}, '{context.MessageId}')", cancellationToken);

    private protected static async Task SwallowErrorAsync(MessageContext context, CancellationToken cancellationToken)
    {
        try
        {
            await ExecuteAsync(context, "SELECT 1 / 0", cancellationToken);
        }
        catch (PostgresException)
        {
        }
    }

    protected static async Task ExecuteAsync(MessageContext context, string statement, CancellationToken cancellationToken)
    {
        await using var command = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
        command.CommandText = statement;
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private async Task<PostgreSqlQueue> FillAsync(TransactionMode mode)
    {
        var queue = Bench.QueueOf(mode);
        await queue.EnqueueAsync(ids.Select(id => OutgoingMessage.Create("work", new BareBench.Todo(), id)), CancellationToken.None);
        return queue;
    }
}
