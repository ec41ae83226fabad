namespace Kit.Runner.Results.Loads;

/// <summary>A message of a load, in ms from the start of the load.</summary>
/// <param name="Due">Time at which it was to be sent.</param>
/// <param name="Begun">Time at which its send began.</param>
/// <param name="Done">Time of its first effect, as a rule its committed row; <see langword="null"/>: it has none.</param>
public sealed record LoadedMessage(double Due, double Begun, double? Done)
{
    /// <summary>Time at which the waiting user was told of its effect; <see langword="null"/>: nobody waited, or not long enough.</summary>
    public double? Told { get; init; }
}

/// <summary>The outcomes of the messages of one load, from which its figures are computed.</summary>
/// <param name="messages">Messages that the transport has confirmed.</param>
public sealed class LoadHistory(IReadOnlyList<LoadedMessage> messages, double seconds)
{
    private const double Millisecond = 1_000;

    /// <summary>End of the time in which users begin one after the other, in s: rates and latencies leave that time out.</summary>
    public double Ramp { get; init; }

    public int Sent => messages.Count;

    /// <summary>Messages that were due and were never sent. Each is one without an effect.</summary>
    public IReadOnlyList<LoadedMessage> Unsent { get; init; } = [];

    /// <summary>
    /// Time that a user waits for an effect, in ms from the moment at which the message was to be sent; <see langword="null"/>: nobody waits.
    /// </summary>
    public double? Timeout { get; init; }

    /// <summary>Messages whose effect came after the <see cref="Timeout"/>; <see langword="null"/> without one.</summary>
    public int? TimedOut => Timeout is { } longest ? messages.Count(message => message.Done - message.Due > longest) : null;

    /// <summary>Messages without a known effect, also unsent ones, and those that timed out.</summary>
    public int Failed => Due.Count(message => message.Done is null) + (TimedOut ?? 0);

    public Latency? SenderLag => Latency.Of(Counted.Select(message => message.Begun - message.Due));

    /// <summary>Time from an effect until its user was told.</summary>
    public Latency? UserLag => Latency.Of(Counted.Select(message => message.Told - message.Done).OfType<double>());

    public Backlog Backlog => Backlog.Of(
        Due.Select(message => message.Due), messages.Select(message => message.Done).OfType<double>(), seconds * Millisecond) with
    {
        // At the reached rate: at the asked one, the queue of an endpoint that is too slow would count as under way.
        UnderWay = LatencyBetween(0, seconds / 4)?.P50 / Millisecond is { } usual && RateBetween(usual, seconds) is { } reached
            ? Math.Round(reached * usual, 3)
            : 0,
    };

    private FiguresFromSend FiguresFromSend
    {
        get
        {
            var begun = new LoadHistory([.. messages.Select(message => message with { Due = message.Begun })], seconds);
            return new FiguresFromSend(begun.LatencyBetween(0, double.PositiveInfinity), begun.Backlog);
        }
    }

    private IEnumerable<LoadedMessage> Due => messages.Concat(Unsent);

    private IEnumerable<LoadedMessage> Counted => Due.Where(message => message.Due >= Ramp * Millisecond);

    /// <summary>The latency of the messages that were to be sent in a window. One without an effect is slower than any other.</summary>
    /// <param name="begin">In s.</param>
    /// <param name="end">In s.</param>
    public Latency? LatencyBetween(double begin, double end) => Latency.Of(
        from message in Due
        where message.Due >= begin * Millisecond && message.Due <= end * Millisecond
        select (message.Done - message.Due) ?? double.PositiveInfinity);

    /// <summary>Messages whose effect came in a window, per second.</summary>
    /// <inheritdoc cref="LatencyBetween" path="/param"/>
    /// <returns><see langword="null"/> for a window without a length.</returns>
    public double? RateBetween(double begin, double end) => end <= begin
        ? null
        : Math.Round(messages.Count(message => message.Done > begin * Millisecond && message.Done <= end * Millisecond) / (end - begin), 3);

    /// <summary>Enters the figures.</summary>
    /// <param name="blank">The result without the figures.</param>
    public LoadResult Into(LoadResult blank) => blank with
    {
        Seconds = Math.Round(seconds, 3),
        Sent = Sent,
        Unsent = Unsent.Count,
        Failed = Failed,
        TimedOut = TimedOut,
        Reached = RateBetween(Ramp, seconds),
        Latency = LatencyBetween(Ramp, double.PositiveInfinity),
        SenderLag = SenderLag,
        UserLag = UserLag,
        Backlog = Backlog,
        FromSend = blank.Rate is null ? null : FiguresFromSend,
    };
}

/// <summary>
/// Quantiles of a time, in ms, over all messages; <see langword="null"/> where there are too few messages for one, and where it has no end.
/// </summary>
/// <param name="P50">The median, from 2 messages on.</param>
/// <param name="P95">From 20 messages on.</param>
/// <param name="P99">From 100 messages on.</param>
/// <param name="P999">From 1,000 messages on.</param>
/// <param name="Max">Of the times that have an end.</param>
public sealed record Latency(double? P50, double? P95, double? P99, double? P999, double Max)
{
    /// <param name="milliseconds">In any order; infinite without an end.</param>
    /// <returns><see langword="null"/> if none has an end.</returns>
    public static Latency? Of(IEnumerable<double> milliseconds)
    {
        // Between a number and infinity there is no quantile, not even at the number.
        const double Endless = 1e300;
        var sorted = milliseconds.Select(time => Math.Min(time, Endless)).Order().ToArray();
        return sorted.Length == 0 || !HasEnd(sorted[0])
            ? null
            : new Latency(Of(0.5), Of(0.95), Of(0.99), Of(0.999), Math.Round(Array.FindLast(sorted, HasEnd), 3));

        double? Of(double share) => Quantile.OfEnough(sorted, share) is { } quantile && HasEnd(quantile) ? quantile : null;

        static bool HasEnd(double time) => time < Endless / 1e100;
    }
}
