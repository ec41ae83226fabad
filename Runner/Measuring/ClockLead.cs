using System.Diagnostics;
using Kit.Runner.Results;
using Npgsql;

namespace Kit.Runner.Measuring;

/// <summary>The lead of a server's clock over this machine's. The true lead is at most the error away from it.</summary>
internal readonly record struct ClockLead(TimeSpan Ahead, TimeSpan Error)
{
    /// <summary>Far servers are asked less often, but at least so often.</summary>
    private const int FewestExchanges = 8;

    private static readonly TimeSpan Longest = TimeSpan.FromSeconds(2);

    private TimeSpan Low => Ahead - Error;

    private TimeSpan High => Ahead + Error;

    /// <summary>
    /// The lead by the quickest of some exchanges: the server's clock was read in it, as a guess half-way, and its error is half the round trip (Cristian,
    /// "Probabilistic clock synchronization", 1989).
    /// </summary>
    public static ClockLead Of(IEnumerable<ClockExchange> exchanges)
    {
        var quickest = exchanges.MinBy(exchange => exchange.Took);
        var half = quickest.Took / 2;
        return new ClockLead(quickest.There - (quickest.Asked + half), half);
    }

    /// <summary>Asks the server up to <paramref name="exchanges"/> times, for about 2 s at most.</summary>
    /// <exception cref="NpgsqlException">The server does not answer.</exception>
    public static async Task<ClockLead> MeasureAsync(NpgsqlConnection connection, int exchanges, CancellationToken cancellationToken)
    {
        await using var question = new NpgsqlCommand("SELECT clock_timestamp()", connection);
        var made = new List<ClockExchange>();
        for (var whole = Stopwatch.StartNew(); made.Count < exchanges && (made.Count < FewestExchanges || whole.Elapsed < Longest);)
        {
            // The machine's clock can make a step in between, and the time that passes cannot. It begins first: a pause before the question is a part of it.
            var (watch, asked) = (Stopwatch.StartNew(), DateTime.UtcNow);
            var there = (DateTime)(await question.ExecuteScalarAsync(cancellationToken))!;
            made.Add(new ClockExchange(asked, there.ToUniversalTime(), watch.Elapsed));
        }

        return Of(made);
    }

    /// <summary>For documents.</summary>
    public ServerClock Compared => new(Math.Round(Ahead.TotalMilliseconds, 3), Math.Round(Error.TotalMilliseconds, 3));

    /// <summary>
    /// The lead as it was before, with its largest error until after if the clocks moved apart in one direction; <see langword="null"/>: there is one clock.
    /// </summary>
    public static ClockLead? Over(ClockLead? before, ClockLead? after) => (before, after) is ({ } first, { } last)
        ? first with { Error = new[] { first.Error, last.High - first.Ahead, first.Ahead - last.Low }.Max() }
        : null;

    /// <summary>By how much at least the server's clock has moved in between; zero if both leads can be the same, or there is one clock.</summary>
    public static TimeSpan Moved(ClockLead? before, ClockLead? after) => (before, after) switch
    {
        ({ } first, { } last) when last.Low > first.High => last.Low - first.High,
        ({ } first, { } last) when last.High < first.Low => last.High - first.Low,
        _ => TimeSpan.Zero,
    };
}

/// <summary>A question for a server's clock.</summary>
/// <param name="Asked">By this machine's clock.</param>
/// <param name="There">The answer, by the server's clock.</param>
/// <param name="Took">From the question to the answer.</param>
internal readonly record struct ClockExchange(DateTime Asked, DateTime There, TimeSpan Took);
