using System.Text.Json.Serialization;
using Kit.Guarantees;

namespace Kit.Runner.Results.Loads;

/// <summary>One cell under one load: a rate, or users who wait.</summary>
public sealed record LoadResult
{
    /// <summary>The sender kept its schedule if 99 % of the sends began within this time of their moment, in ms.</summary>
    public const double LateSender = 20;

    /// <summary>The share of failed messages from which a rate is not sustained, in a search.</summary>
    public const double FailedLimit = 0.01;

    private const string LateSends = "the sender was late";
    private const string Left = "a backlog was left";
    private const string UnclearP99 = "by the error of the clocks, p99 can be above the limit";

    public required CellName Cell { get; init; }

    /// <summary>Messages a second, as scheduled; absent for users.</summary>
    public double? Rate { get; init; }

    /// <summary>
    /// The fraction of the highest sustained rate, 0 to 1: that was found before, and this load does not belong to the search. Absent otherwise.
    /// </summary>
    public double? ShareOfFound { get; init; }

    /// <summary>The highest rate that <see cref="ShareOfFound"/> is a fraction of, as it was found by the build of the load.</summary>
    [JsonIgnore]
    public double? FoundThen => Rate / ShareOfFound;

    /// <summary>Users who sent, each when the effect of its last message was there and its pause was over; absent for a rate.</summary>
    public int? Users { get; init; }

    public required RoundOutcome Outcome { get; init; }

    /// <summary>Duration of the sending, in s: shorter than planned if the load was stopped.</summary>
    public double Seconds { get; init; }

    /// <summary>True if it was stopped before its time.</summary>
    public bool IsStopped { get; init; }

    /// <summary>Messages that the transport has confirmed to the sender.</summary>
    public int Sent { get; init; }

    /// <summary>
    /// Users' messages that were never sent: no connection was free until the user gave up, or until the load was stopped. Absent if there are none, and in
    /// documents of builds that did not count them.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public int Unsent { get; init; }

    /// <summary>
    /// Messages without a known effect at the end: unsent, in the error queue, lost, still in the queue, or handled after the broker ended the connection that
    /// tells of effects. Messages that timed out count, too.
    /// </summary>
    public int Failed { get; init; }

    /// <summary>
    /// Messages whose effect came later than a user waits for it. They have failed, too. Absent for a rate, and in documents of builds that did not count them.
    /// </summary>
    public int? TimedOut { get; init; }

    /// <summary>
    /// Tries to send a message that a user's service, or its server, refused; they were made again. Absent if there are none, and in documents of builds that
    /// did not count them.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public int Refusals { get; init; }

    /// <summary>The reason of the last of <see cref="Refusals"/>; absent without one.</summary>
    public string? LastRefusal { get; init; }

    /// <summary>True if messages in the error queue, without any effect, are the only problem; absent in documents of builds that did not tell.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool IsDeadLetteredAlone { get; init; }

    /// <summary>True if a step of the machine's clock is the only problem of its outcome; absent in documents of builds that did not tell.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool IsClockAlone { get; init; }

    /// <summary>
    /// Messages whose effect came while messages were sent, per second, without the time in which users began; absent if that is all of the time.
    /// </summary>
    public double? Reached { get; init; }

    /// <summary>The end of a latency; absent in documents that know only rows.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public EffectClock Clock { get; init; }

    /// <summary>The clock of the database server, whose error is in each latency that ends with a row; absent if it is this machine's.</summary>
    public ServerClock? ServerClock { get; init; }

    /// <summary>The busy share of all the machine's processors while messages were sent, 0 to 1; absent if the system does not tell.</summary>
    public double? CpuShare { get; init; }

    /// <summary>
    /// The share of all processors that programs took which do not belong to the kit, 0 to 1, while messages were sent; absent if the system does not tell,
    /// and in documents of builds that did not measure it.
    /// </summary>
    public double? OtherCpuShare { get; init; }

    /// <summary>The other program that took most; absent if none is known.</summary>
    public string? BusiestOther { get; init; }

    /// <summary>
    /// Time from the moment at which a message was to be sent until its effect; absent if no message had one. One without an effect is slower than any other,
    /// but in documents of builds that left it out.
    /// </summary>
    public Latency? Latency { get; init; }

    /// <summary>Time from the moment at which a message was to be sent until its send began.</summary>
    public Latency? SenderLag { get; init; }

    /// <summary>
    /// Time from an effect until the user who waited for it was told: their next message is that much later, and no latency contains it. Absent for a rate.
    /// </summary>
    public Latency? UserLag { get; init; }

    /// <summary>The backlog; absent if nothing was sent.</summary>
    public Backlog? Backlog { get; init; }

    /// <summary>
    /// The figures of a rate if each message is due when its send began: the endpoint's part. Absent for users, and in documents of builds that did not tell.
    /// </summary>
    public FiguresFromSend? FromSend { get; init; }

    /// <summary>The figures that were followed through the load; absent if there are none.</summary>
    public IReadOnlyList<SoakFigure>? Soak { get; init; }

    /// <summary>The parts before, while and after a snapshot was held; absent if none was.</summary>
    public IReadOnlyList<LoadPart>? Parts { get; init; }

    /// <summary>Messages in each class of outcomes.</summary>
    public IReadOnlyDictionary<DeliveryClass, int> Accounts { get; init; } = new Dictionary<DeliveryClass, int>();

    /// <summary>
    /// True if the sender kept its schedule, as far as it is known. If not, the sender limits the rate, and not the endpoint. With fewer than 100 messages, one
    /// late send is more than 1 %.
    /// </summary>
    public bool IsSenderOnTime => SenderLag is not { } lag || (lag.P99 ?? lag.Max) <= LateSender;

    /// <summary>True if other programs took so much of the processors that its figures say little. Unknown: false.</summary>
    public bool IsNoisy => OtherCpuShare > Noise.DefaultLimit;

    /// <summary>Messages in the error queue, without any effect; <see langword="null"/> if the load did not get as far as its account.</summary>
    public int? DeadLettered => CountOf(DeliveryClass.CleanError);

    /// <summary>Messages that are nowhere, and have no effect; <see langword="null"/> if the load did not get as far as its account.</summary>
    public int? Lost => CountOf(DeliveryClass.Lost);

    /// <summary>True if users waited, and the build did not count the messages whose effects came too late.</summary>
    public bool IsTimedOutUnknown => Users is not null && TimedOut is null && Sent > 0;

    /// <summary>True if the outcome of its messages is known. It is not if the load failed before its end.</summary>
    public bool IsAccountedFor => Outcome.Verdict is Results.Verdict.Valid or Results.Verdict.Invalid || Accounts.Count > 0;

    /// <summary>The share of the messages that failed, 0 to 1; <see langword="null"/> if their outcome is unknown.</summary>
    public double? FailedShare => !IsAccountedFor ? null : Sent + Unsent == 0 ? 0 : (double)Failed / (Sent + Unsent);

    /// <summary>
    /// True if the endpoint did not keep up with the rate: at the end of the sending, or for most of its last quarter, too many messages were due without an
    /// effect. Users wait, so they leave none.
    /// </summary>
    public bool IsBacklogLeft => IsTooLarge(backlog => backlog.LastQuarter) || IsTooLarge(_ => ((Rate - Reached) ?? 0) * Seconds);

    /// <summary>The planned load, as a text: <c>500/s</c> or <c>25 users</c>.</summary>
    public string Asked => Rate is { } rate
        ? $"{Figures.Measured(rate)}/s{(ShareOfFound is { } share ? $" ({Figures.Share(share)} of the highest)" : "")}"
        : $"{Figures.Count(Users ?? 0)} users";

    /// <summary>The reasons why the rate was not sustained, or the problems of the users' load; empty if there are none.</summary>
    /// <param name="limitMilliseconds">The highest p99 of the latency that counts as sustained; <see langword="null"/>: any.</param>
    public IReadOnlyList<string> ReasonsAgainst(double? limitMilliseconds) =>
    [
        .. IsStopped ? [$"stopped after {Figures.Measured(Seconds)} s"] : Array.Empty<string>(),
        .. (Sent, Outcome.IsValid(), IsSenderOnTime) switch
        {
            (0, true, _) => ["nothing was sent"],
            // A load that failed has no figures. Its outcome says why.
            (0, false, _) or (_, _, true) => Array.Empty<string>(),
            (_, _, false) => [LateReason],
        },
        .. Unsent > 0 ? [$"{Figures.Count(Unsent, "message")} found no free connection (name more --senders)"] : Array.Empty<string>(),
        .. IsBacklogLeft ? [Left] : Array.Empty<string>(),
        .. limitMilliseconds is { } limit && Latency is { } latency ? ReasonsAgainst(latency.P99, ServerClock?.ErrorMilliseconds ?? 0, limit, Sent) : [],
        .. (Outcome.IsValid(), limitMilliseconds is not null && IsDeadLetteredAlone) switch
        {
            (true, _) => Array.Empty<string>(),
            (false, true) => FailedShare < FailedLimit ? [] : [$"{LoadReport.ShareOf(this)} failed"],
            (false, false) => [$"{Outcome}"],
        },
    ];

    /// <summary>The reason why the endpoint may sustain the rate though it was not sustained; <see langword="null"/>: there is none.</summary>
    public string? WhyNothingIsShown(double? limitMilliseconds) =>
        IsClockAlone ? "the machine's clock made a step"
        : ReasonsAgainst(limitMilliseconds) is [UnclearP99] ? UnclearP99
        // An endpoint that falls behind on the sender's processors makes it late.
        : !IsSenderOnTime && AsSent.ReasonsAgainst(limitMilliseconds).Count == 0 && !AsSent.IsTooLarge(backlog => backlog.SecondQuarter)
            ? $"only {LateReason}"
        : null;

    /// <summary>The same without the sender's lateness, as far as it is known what that caused.</summary>
    private LoadResult AsSent =>
        (FromSend is { } own ? this with { Latency = own.Latency, Backlog = own.Backlog, Reached = null } : this) with { SenderLag = null };

    private string LateReason => IsBacklogLeft && FromSend is not null && !AsSent.IsBacklogLeft ? $"{LateSends} (name more --senders)" : LateSends;

    private bool IsTooLarge(Func<Backlog, double> messages) =>
        Rate is { } rate && Backlog is { } backlog && backlog.IsTooLarge(messages(backlog), rate * Seconds);

    private int? CountOf(DeliveryClass kind) => Accounts.TryGetValue(kind, out var count) ? count : null;

    private static string[] ReasonsAgainst(double? p99, double error, double limit, int sent) => p99 switch
    {
        null when sent < Quantile.NeededFor(0.99) => ["too few messages for a p99"],
        null => [$"p99 above {Figures.Measured(limit)} ms"],
        { } high when high - error > limit => [$"p99 above {Figures.Measured(limit)} ms"],
        { } near when near + error > limit => [UnclearP99],
        { } low when low + error <= limit => [],
        _ => throw new ArgumentOutOfRangeException(nameof(p99), p99, "It is no number."),
    };
}

/// <summary>The figures of a load's messages from the beginnings of their sends, as if they had been due then.</summary>
public sealed record FiguresFromSend(Latency? Latency, Backlog Backlog);

/// <summary>The end of the latency of a load's messages.</summary>
public enum EffectClock
{
    /// <summary>The commit timestamp of the row that the handler inserted.</summary>
    RowCommit,

    /// <summary>The commit timestamp of the message that the handler sent, in its queue.</summary>
    SendCommit,

    /// <summary>This machine's clock, when a consumer of the runner received the message that the handler sent.</summary>
    SendReceipt,

    /// <summary>The last effect of a user's service: a row's commit, a sent message's receipt or a call's arrival.</summary>
    LastEffect,
}
