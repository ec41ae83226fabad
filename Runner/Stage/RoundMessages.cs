using System.Collections.Concurrent;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Databases;

namespace Kit.Runner.Stage;

/// <summary>The messages of one round, and what its handlers must send for each.</summary>
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

    /// <summary>Those of a cell.</summary>
    /// <param name="cell">The cell.</param>
    /// <param name="queue">The queue that its handlers receive from.</param>
    /// <param name="widgets">The restored rows, which messages can ask for.</param>
    /// <param name="cancellationToken">Ends the reading.</param>
    public static async Task<RoundMessages> OfAsync(Cell cell, string queue, IRoundStore widgets, CancellationToken cancellationToken) =>
        new(cell, queue, cell.Scenario.Asks ? await widgets.ReadSeededAsync(MostAsked, cancellationToken) : []);

    /// <summary>New messages. Those that ask for rows do so in turn.</summary>
    public List<BuildWidget> New(int count) => [.. Enumerable.Range(0, count).Select(_ => Next())];

    /// <summary>A new message. Several threads can ask for one.</summary>
    public BuildWidget Next() => Next(Guid.CreateVersion7());

    /// <summary>The same with a given id.</summary>
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

    /// <summary>A message that was made; <see langword="null"/>: nobody made it here.</summary>
    public BuildWidget? Find(Guid id) => made.GetValueOrDefault(id);

    /// <summary>What the handler must send for one of them; <see langword="null"/>: only that it sends a message, or none, is known.</summary>
    public ExpectedSend? ExpectedFor(BuildWidget message) =>
        cell.Scenario.Expects?.Invoke(message, message.Row is { } id ? byId[id] : null);
}
