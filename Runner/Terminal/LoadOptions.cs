using System.CommandLine;
using System.CommandLine.Parsing;
using System.Diagnostics;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Results.Loads;

namespace Kit.Runner.Terminal;

/// <summary>The way in which messages arrive, as it is typed: at a rate, from users, or at the highest rate that is sustained.</summary>
/// <param name="timesOut">True if a message times out also when no user waits for it.</param>
/// <param name="mostSenders">The most connections that send.</param>
internal sealed class LoadOptions(bool timesOut, int mostSenders)
{
    private const double FirstRate = 100;
    private const int DefaultSenders = 8;

    // Each is a task of the program, and they share the senders' connections.
    private const int MostUsers = 10_000;

    private static readonly TimeSpan DefaultLength = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan DefaultStep = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan DefaultLimit = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan ShortestLength = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan LongestThink = TimeSpan.FromHours(1);
    private static readonly TimeSpan DefaultTimeout = TimeSpan.FromSeconds(30);

    private readonly Option<double?> rate = NumberOption.Rate(
        "--rate", $"Messages a second, sent on schedule whatever becomes of them. With --find-rate: the first rate ({FirstRate}).",
        RateSearch.Lowest, RateSearch.Highest);
    private readonly Option<int[]> users = NumberOption.Counts(
        "--users",
        "Instead of a rate: so many users, each of whom sends a message, waits until its effect is there, and pauses. Several numbers make several loads.",
        least: 1, most: MostUsers);
    private readonly Option<TimeSpan?> think = NumberOption.Time("--think", "With --users: the pause (0s).", TimeSpan.Zero, LongestThink);
    private readonly Option<TimeSpan?> timeout = NumberOption.Time(
        "--timeout",
        timesOut
            ? $"A message without its effects after this time has failed ({DefaultTimeout.TotalSeconds}s). A user goes on then."
            : $"With --users: how long they wait for an effect ({DefaultTimeout.TotalSeconds}s). Then they go on, and the message has failed, also if its " +
              "effect comes later.",
        TimeSpan.FromMilliseconds(1), LongestThink);
    private readonly Option<TimeSpan?> ramp = NumberOption.Time(
        "--ramp", "With --users: the time in which they begin, one after the other (0s). Rates and latencies leave it out.", TimeSpan.Zero, LongestLength);
    private readonly Option<TimeSpan?> length = NumberOption.Time(
        "--for", $"How long messages are sent ({DefaultLength.TotalSeconds}s; with --find-rate {DefaultStep.TotalSeconds}s at each rate).",
        ShortestLength, LongestLength);
    private readonly Option<bool> findRate = new("--find-rate")
    {
        Description = "Search the highest rate that is sustained: the sender on time, no message lost or doubled and fewer than " +
            $"{Figures.Share(LoadResult.FailedLimit)} failed, no backlog left, p99 within --p99. " +
            "Doubles or halves the rate until one is sustained and one is not, then narrows them down to 10 %. " +
            $"Tries a rate up to {RateSearch.MostTries} times if only the sender was late.",
    };
    private readonly Option<TimeSpan?> limit = NumberOption.Time(
        "--p99", $"With --find-rate: the highest p99 of the latency ({DefaultLimit.TotalSeconds}s).", TimeSpan.FromMilliseconds(1), TimeSpan.FromHours(1));
    private readonly Option<int[]> atPercent = NumberOption.Counts(
        "--at-percent", "With --find-rate: load again at these percentages of the highest rate, for its latency below the limit.", least: 1, most: 99);
    private readonly Option<int?> senders = NumberOption.Count(
        "--senders", $"Sends under way at the same time ({DefaultSenders}). With --users: name as many as users, or they wait for each other.",
        least: 1, most: mostSenders);

    /// <summary>The longest load.</summary>
    public static TimeSpan LongestLength { get; } = TimeSpan.FromHours(24);

    public void AddTo(Command command)
    {
        foreach (var option in new Option[] { rate, users, think, timeout, ramp, length, findRate, limit, atPercent, senders })
            command.Options.Add(option);
        command.Validators.Add(CheckTogether);
    }

    public bool IsSearch(CommandResult parsed) => parsed.GetValue(findRate);

    /// <summary>The loads, one after the other; in a search, the rate with which it begins.</summary>
    /// <exception cref="KitException">Users begin until the load is over.</exception>
    public IReadOnlyList<LoadShape> Shapes(ParseResult parsed)
    {
        if (parsed.GetValue(users) is not { Length: > 0 } counts)
            return [new OpenLoad(parsed.GetValue(rate) ?? FirstRate)];

        var beginning = parsed.GetValue(ramp) ?? TimeSpan.Zero;
        return beginning < Length(parsed)
            ? [.. counts.Select(count => new ClosedLoad(count, parsed.GetValue(think) ?? TimeSpan.Zero, beginning, Timeout(parsed)))]
            : throw NotWithin(ramp.Name, "a time shorter than", Length(parsed));
    }

    public TimeSpan Length(ParseResult parsed) => parsed.GetValue(length) ?? (IsSearch(parsed.CommandResult) ? DefaultStep : DefaultLength);

    public TimeSpan Timeout(ParseResult parsed) => parsed.GetValue(timeout) ?? DefaultTimeout;

    /// <summary>In a search, the highest p99 of the latency that counts as sustained.</summary>
    public double? LimitMilliseconds(ParseResult parsed) =>
        IsSearch(parsed.CommandResult) ? (parsed.GetValue(limit) ?? DefaultLimit).TotalMilliseconds : null;

    /// <summary>In a search, the fractions of the highest rate that are loaded after it, 0 to 1.</summary>
    public IReadOnlyList<double> Shares(ParseResult parsed) => [.. (parsed.GetValue(atPercent) ?? []).Order().Select(percent => percent / 100d)];

    public int Senders(ParseResult parsed) => parsed.GetValue(senders) ?? DefaultSenders;

    public static string TextOf(LoadShape shape) => shape switch
    {
        OpenLoad open => $"{Figures.Measured(open.Rate)} messages a second",
        ClosedLoad closed => $"{Figures.Count(closed.Users)} users with pauses of {Figures.Measured(closed.Think.TotalMilliseconds)} ms, " +
                             $"each of whom waits up to {Figures.Measured(closed.Timeout.TotalSeconds)} s",
        _ => throw new UnreachableException($"No text for a {shape.GetType().Name}."),
    };

    /// <summary>An error about a part of a load that is not within it.</summary>
    public static KitException NotWithin(string option, string expected, TimeSpan length) => new(
        $"{option}: expected {expected} the load, which takes {Figures.Measured(length.TotalSeconds)} s.",
        "Give a longer --for; 'load --help' shows examples.")
    { IsUsage = true };

    private void CheckTogether(CommandResult result)
    {
        var (isSearch, isRate, isUsers) = (IsSearch(result), IsGiven(result, rate), IsGiven(result, users));
        if (isUsers && (isRate || isSearch))
            result.AddError($"--users: they wait, so they have no rate; leave out {(isRate ? "--rate" : "--find-rate")}.");
        else if (!isSearch && !isRate && !isUsers)
            result.AddError("expected --rate, such as --rate 500/s, or --users, such as --users 25, or --find-rate.");
        if (!isSearch && IsGiven(result, limit))
            result.AddError("--p99: applies only with --find-rate.");
        if (!isSearch && IsGiven(result, atPercent))
            result.AddError("--at-percent: applies only with --find-rate.");
        foreach (var option in (timesOut ? new Option[] { think, ramp } : [think, timeout, ramp]).Where(option => !isUsers && IsGiven(result, option)))
            result.AddError($"{option.Name}: applies only with --users.");
    }

    private static bool IsGiven(SymbolResult result, Option option) => result.GetResult(option) is { Implicit: false };
}
