using Kit.Endpoints.Cells;
using Kit.Runner.Measuring;
using Kit.Runner.Results;

namespace Kit.Runner.Loads;

/// <summary>The memory that the runner needs for the messages of a load. It keeps each until the load is accounted for.</summary>
internal static class LoadMemory
{
    /// <summary>A load that needs more is warned of, in bytes.</summary>
    public const double Much = 1e9;

    // By how much the highest working set of the runner grew with each message: 1,850 bytes with a row, 1,810 with a message that was forwarded to a user,
    // 8,780 with a row and 20 events. Each is the difference of two loads, of 10 s and of 40 or 55 s. Padding and documents are shared by all messages.
    private const double OfMessage = 1_500;
    private const double OfEffect = 350;

    /// <summary>The need of the load of one cell.</summary>
    /// <returns>
    /// Messages and bytes, for users the most that are possible; <see langword="null"/> for users without a pause, whose number of messages is not known
    /// before.
    /// </returns>
    public static (double Messages, double Bytes)? Of(Cell cell, LoadShape shape, TimeSpan length) =>
        MessagesOf(shape, length) is { } messages
            ? (messages, messages * (OfMessage + (OfEffect * (cell.Scenario.Rows + cell.Scenario.Deliveries))))
            : null;

    /// <summary>A warning about the load that needs most; <see langword="null"/> if none is known to need much.</summary>
    public static string? WarningOf(LoadPlan plan)
    {
        // A search has rates that nobody knows before, and short loads.
        var most = plan.LimitMilliseconds is not null ? [] : plan.Runnable
            .SelectMany(cell => plan.Shapes.Select(shape => Of(cell, shape, plan.Length))).OfType<(double Messages, double Bytes)>().ToList();
        return most.Count > 0 && most.MaxBy(one => one.Bytes) is { Bytes: > Much } needs
            ? $"Memory: a load of {Figures.Count((long)needs.Messages)} messages needs about {Figures.Measured(needs.Bytes / 1e9)} GB in the runner, which " +
              "keeps each message until it is accounted for. If this machine has less to spare, give a shorter --for or fewer messages a second."
            : null;
    }

    private static double? MessagesOf(LoadShape shape, TimeSpan length) => shape switch
    {
        OpenLoad open => open.Rate * length.TotalSeconds,
        ClosedLoad { Think.Ticks: > 0 } closed => closed.Users * ((length / closed.Think) + 1),
        ClosedLoad => null,
        _ => throw new NotSupportedException($"Nobody knows how many messages a {shape.GetType().Name} has."),
    };
}
