using System.Diagnostics;
using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Stage;

/// <summary>The queues to which the handlers of one round send, or that have subscribed to their events.</summary>
internal sealed class Sinks : IAsyncDisposable
{
    // Some frameworks write the names of properties in lower case.
    private static readonly JsonSerializerOptions AnyCase = new() { PropertyNameCaseInsensitive = true };

    private static readonly TimeSpan LongestPush = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Look = TimeSpan.FromMilliseconds(50);

    private readonly IReadOnlyList<IMessageQueue> queues;
    private readonly IMessageQueue? bystander;
    private readonly Func<BuildWidget, ExpectedSend?>? expectedFor;
    private readonly List<IAsyncDisposable> consumers = [];
    private readonly List<SinkRow> consumed = [];
    private volatile bool isLost;

    private Sinks(IReadOnlyList<IMessageQueue> queues, IMessageQueue? bystander, Func<BuildWidget, ExpectedSend?>? expectedFor) =>
        (this.queues, this.bystander, this.expectedFor) = (queues, bystander, expectedFor);

    /// <summary>No queues, for handlers that send nothing.</summary>
    public static Sinks None { get; } = new([], bystander: null, expectedFor: null);

    private IEnumerable<IMessageQueue> All => bystander is null ? queues : queues.Append(bystander);

    /// <summary>Creates the queues of a cell. A publisher has one more queue, which has not subscribed.</summary>
    /// <param name="expectedFor">The expected send for a message, if its scenario says it; each arrived message is compared with it.</param>
    public static async Task<Sinks> CreateAsync(
        Cell cell, RoundTransport transport, Func<BuildWidget, ExpectedSend?>? expectedFor, CancellationToken cancellationToken)
    {
        var sinks = new Sinks(
            [.. cell.SinksOf(transport.Queue).Select(Open)],
            cell.Scenario.IsPublisher ? Open($"{Cell.SinkOf(transport.Queue)}-not-subscribed") : null,
            cell.Scenario.Expects is null ? null : expectedFor);
        try
        {
            foreach (var queue in sinks.All)
                await queue.CreateAsync(cancellationToken);
            foreach (var queue in cell.Scenario.IsPublisher ? sinks.queues : [])
                await queue.SubscribeAsync(typeof(WidgetReady), cancellationToken);
            return sinks;
        }
        catch
        {
            await sinks.DisposeAsync();
            throw;
        }

        IMessageQueue Open(string name) => cell.Kind.OpenQueue(name, transport.ForRunner);
    }

    /// <summary>Receives and checks the messages that arrive. They are no longer in the queues, but <see cref="ReadAsync"/> still returns them.</summary>
    /// <param name="sent">The message whose handler sent an arrived one; <see langword="null"/>: none did.</param>
    /// <param name="arrived">Receives the id of the causing message, and the time at which its sent message was received.</param>
    /// <param name="lose">Receives the reason if a server ends the consuming.</param>
    /// <exception cref="NotSupportedException">A queue's server does not push messages.</exception>
    public async Task ConsumeAsync(
        Func<Guid, BuildWidget?> sent, Action<Guid, DateTimeOffset> arrived, Action<Exception> lose, CancellationToken cancellationToken)
    {
        foreach (var (at, queue) in queues.Index())
        {
            var pushed = queue as IPushedQueue ?? throw new NotSupportedException($"The server of queue {queue.Name} does not push its messages.");
            consumers.Add(await pushed.ConsumeAsync((id, body) => Take(id, body, at), Lose, cancellationToken));
        }

        void Lose(Exception reason)
        {
            isLost = true;
            lose(reason);
        }

        void Take(Guid id, ReadOnlyMemory<byte> body, int at)
        {
            var moment = DateTimeOffset.UtcNow;
            var row = RowOf(id, body.Span, at, sent);
            arrived(row.CausedBy, moment);
            lock (consumed)
                consumed.Add(row);
        }
    }

    /// <summary>Ends the consuming, when everything that was sent has been received.</summary>
    public async Task EndConsumingAsync(CancellationToken cancellationToken)
    {
        // What a server does not push, or has no consumer any more, is left in its queue, and read there.
        var watch = Stopwatch.StartNew();
        foreach (var queue in queues)
        {
            while (!isLost && await queue.CountAsync(cancellationToken) > 0 && watch.Elapsed < LongestPush)
                await Task.Delay(Look, cancellationToken);
        }

        foreach (var consumer in consumers)
            await consumer.DisposeAsync();
        consumers.Clear();
    }

    /// <summary>The arrived messages.</summary>
    /// <param name="messages">The messages whose handlers have sent them.</param>
    public async Task<IReadOnlyList<SinkRow>> ReadAsync(IEnumerable<BuildWidget> messages, CancellationToken cancellationToken)
    {
        List<SinkRow> found;
        lock (consumed)
            found = [.. consumed];
        var sent = expectedFor is null ? [] : messages.ToDictionary(message => message.MessageId);
        foreach (var (at, queue) in queues.Index())
        {
            found.AddRange(expectedFor is null
                // An outgoing message has the id of the message that caused it.
                ? (await queue.ReadMessagesAsync(cancellationToken)).Select(id => new SinkRow(id, id) { Queue = at })
                : await queue.ReadBodiesAsync((id, body) => RowOf(id, body.Span, at, sent.GetValueOrDefault), cancellationToken));
        }

        if (bystander is not null)
        {
            found.AddRange((await bystander.ReadMessagesAsync(cancellationToken))
                .Select(id => new SinkRow(id, id) { Queue = queues.Count, Mistake = $"in {bystander.Name}, which has not subscribed" }));
        }

        return found;
    }

    public async ValueTask DisposeAsync()
    {
        foreach (var consumer in consumers)
            await consumer.DisposeAsync();
        foreach (var queue in All)
            await queue.DisposeAsync();
    }

    /// <summary>The mistake in an arrived message; <see langword="null"/>: none.</summary>
    /// <param name="at">Index of the queue in which it arrived.</param>
    internal static string? MistakeIn(ExpectedSend expected, IReadOnlyList<string> names, int at, string? document)
    {
        if (expected.Sink != at)
            return $"in {names[at]}, expected in {names[expected.Sink]}";
        if (string.Equals(expected.Document, document, StringComparison.Ordinal))
            return null;

        var alike = (expected.Document ?? "").Zip(document ?? "").TakeWhile(pair => pair.First == pair.Second).Count();
        return $"its document ({LengthOf(document)}) is not the expected one ({LengthOf(expected.Document)}), from character {alike + 1} on";
    }

    private SinkRow RowOf(Guid id, ReadOnlySpan<byte> body, int at, Func<Guid, BuildWidget?> sent)
    {
        WidgetBuilt? arrived;
        try
        {
            arrived = JsonSerializer.Deserialize<WidgetBuilt>(body, AnyCase);
        }
        catch (JsonException unreadable)
        {
            return new SinkRow(id, id) { Queue = at, Mistake = $"its body cannot be read: {unreadable.Message}" };
        }

        var causedBy = arrived?.MessageId ?? id;
        return new SinkRow(id, causedBy)
        {
            Queue = at,
            // Nobody knows what a message that was not sent should have caused. The account finds it.
            Mistake = sent(causedBy) is { } message && expectedFor!(message) is { } expected
                ? MistakeIn(expected, [.. queues.Select(queue => queue.Name)], at, arrived?.Document)
                : null,
        };
    }

    private static string LengthOf(string? document) => document is null ? "none" : $"{document.Length} characters";
}
