using System.Collections.Concurrent;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Stage.Databases;

namespace Kit.Runner.Stage;

/// <summary>The messages of one round, and the expected sends of its handlers.</summary>
internal sealed class RoundMessages
{
    private const int MostAsked = 1_000;

    private readonly Cell cell;
    private readonly string queue;
    private readonly IReadOnlyList<Widget> asked;
    private readonly Dictionary<long, Widget> byId;
    private readonly ConcurrentDictionary<Guid, BuildWidget> made = new();
    private int rows = -1;

    private RoundMessages(Cell cell, string queue, IReadOnlyList<Widget> asked)
    {
        this.cell = cell;
        this.queue = queue;
        this.asked = asked;
        byId = asked.ToDictionary(row => row.Id);
    }

    /// <summary>The messages of a cell.</summary>
    /// <param name="queue">The queue that its handlers receive from.</param>
    /// <param name="widgets">The restored rows, which messages can ask for.</param>
    public static async Task<RoundMessages> OfAsync(Cell cell, string queue, IRoundStore widgets, CancellationToken cancellationToken) =>
        new(cell, queue, cell.Scenario.Asks ? await widgets.ReadSeededAsync(MostAsked, cancellationToken) : []);

    /// <summary>New messages. Messages that ask for rows take the rows in turn.</summary>
    public List<BuildWidget> New(int count) => [.. Enumerable.Range(0, count).Select(_ => Next())];

    /// <summary>A new message. Several threads can ask for one.</summary>
    public BuildWidget Next() => Next(Guid.CreateVersion7());

    /// <summary>A new message with a given id.</summary>
    public BuildWidget Next(Guid id)
    {
        var message = cell.NewMessage(id);
        if (asked.Count > 0)
        {
            message = message with
            {
                Row = asked[(int)((uint)Interlocked.Increment(ref rows) % asked.Count)].Id,
                ReplyTo = Cell.SinkOf(queue),
            };
        }

        made[message.MessageId] = message;
        return message;
    }

    /// <summary>A message by its id; <see langword="null"/>: it was not made here.</summary>
    public BuildWidget? Find(Guid id) => made.GetValueOrDefault(id);

    /// <summary>The expected send for a message; <see langword="null"/>: only the number, one or none, is known.</summary>
    public ExpectedSend? ExpectedFor(BuildWidget message) =>
        cell.Scenario.Expects?.Invoke(message, message.Row is { } id ? byId[id] : null);
}
