using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Pages;

/// <summary>A picture of one handling for each mode of the bare endpoint on PostgreSQL: what commits with what, and what a kill does.</summary>
internal static class HandlingPictures
{
    /// <summary>Statements of the endpoint and the handler. The others are dots without a label.</summary>
    private static readonly IReadOnlyList<(string Begins, RequestLabel Label)> Labels =
    [
        ("DELETE FROM \"widgets\" ", new("receive", IsWork: true)),
        ("INSERT INTO widget ", new("row", IsWork: true)),
        ("INSERT INTO \"widgets-sink\" ", new("send", IsWork: true)),
        ("INSERT INTO \"widgets_inbox\" ", new("inbox", IsWork: true)),
        ("INSERT INTO \"widgets_outbox\" ", new("outbox", IsWork: true)),
        ("DELETE FROM \"widgets_outbox\" ", new("clear outbox", IsWork: true)),
        ("PREPARE TRANSACTION", new("prepare", IsWork: false)),
        ("COMMIT", new("commit", IsWork: false)),
    ];

    private static readonly Dictionary<string, string> Lanes = new() { ["data"] = "rows", ["database"] = "queue and rows" };

    /// <summary>360 pixels wide: on a telephone, too, its text is legible.</summary>
    public static HandlingLook Look { get; } = new(
        Strip: 250, Outcomes: 110,
        point => Labels.FirstOrDefault(one => point.Request.Text.StartsWith(one.Begins, StringComparison.Ordinal)).Label,
        server => Lanes.GetValueOrDefault(server, server));

    public static BlockText Write(BlockSources sources)
    {
        var shown = ShownCells.Modes.Select(mode => (Path: $"docs/handling/{mode}.svg", Picture: Of(sources, mode))).ToList();
        return new(
        [
            .. shown.Select(one => ImageOf(sources, one.Path, one.Picture)),
            "",
            $"From {sources.MadeIn(sources.Experiments[0])}.",
        ])
        {
            Pictures = [.. shown.Select(one => (one.Path, one.Picture.Svg))],
        };
    }

    public static string ImageOf(BlockSources sources, string path, HandlingPicture picture) =>
        $"<img src=\"{sources.LinkTo(path)}\" width=\"{picture.Width}\" align=\"top\" alt=\"{picture.Words}\">";

    private static HandlingPicture Of(BlockSources sources, TransactionMode mode)
    {
        var kills = new RecordedKills(sources.Experiments[0], mode);
        return new HandlingPicture(mode.Name, kills.Points, requests => OutcomeOf(kills.ClassAfter(requests)), Look);
    }

    private static KillOutcome OutcomeOf(DeliveryClass found) => found switch
    {
        DeliveryClass.Once => KillOutcome.Once,
        DeliveryClass.Torn => new("half done", IsRight: false),
        DeliveryClass.Duplicated => new("rows doubled", IsRight: false),
        DeliveryClass.DuplicatedOutgoing => new("send doubled", IsRight: false),
        DeliveryClass.Ghost => new("rows missing", IsRight: false),
        DeliveryClass.Zombie => new("send missing", IsRight: false),
        _ => new(Words.Of(found), IsRight: false),
    };
}

/// <summary>A picture of the two-phase commit with its recovery.</summary>
internal static class RecoveryPicture
{
    private const string Picture = "docs/handling/recovery.svg";

    // The texts are longer than those of the other pictures.
    private static readonly HandlingLook Look = HandlingPictures.Look with { Strip = 190, Outcomes = 170 };

    public static BlockText Write(BlockSources sources)
    {
        var kills = new RecordedKills(sources.Experiments[0], TransactionMode.FullDtc);
        var picture = new HandlingPicture(TransactionMode.FullDtc.Name, kills.Points, OutcomeOf, Look);
        return new(HandlingPictures.ImageOf(sources, Picture, picture), "", $"From {sources.MadeIn(sources.Experiments[0])}.")
        {
            Pictures = [(Picture, picture.Svg)],
        };

        KillOutcome OutcomeOf(int requests)
        {
            var (isPrepared, isDecided, isDone) = (Has("PREPARE TRANSACTION "), Has("COMMIT"), Has("COMMIT PREPARED "));
            return kills.ClassAfter(requests) is not (DeliveryClass.Once and var found)
                ? throw new KitException($"the message was {Words.Of(kills.ClassAfter(requests))}, which recovery must prevent.", "Find out why first.")
                : new KillOutcome(
                    isDone ? "all committed"
                    : isDecided ? "recovery commits the branch"
                    : isPrepared ? "recovery rolls the branch back: received again"
                    : "the server rolls all back: received again",
                    IsRight: true);

            bool Has(string begins) => kills.Points.Take(requests).Any(point => point.Request.Text.StartsWith(begins, StringComparison.Ordinal));
        }
    }
}

/// <summary>The kills of the process at every point of a bare cell on PostgreSQL.</summary>
internal sealed class RecordedKills
{
    private readonly FaultSource source;
    private readonly ILookup<(int, PointWay), FaultResult> met;
    private readonly string cell;

    /// <exception cref="KitException">There are no points of such a cell.</exception>
    public RecordedKills(FaultSource source, TransactionMode mode)
    {
        this.source = source;
        cell = $"bare/postgresql/{mode}/{ShownCells.Access}";
        Points = source.Document.Points?.GetValueOrDefault(cell)
            ?? throw new KitException($"{source.Folder} has no points of {cell}.", "Name the folder of: faults --every-point");
        met = source.Results.Where(result => result.Point is not null && $"{result.Cell}" == cell)
            .ToLookup(result => (result.Point!.Number, result.Point.Way));
    }

    public IReadOnlyList<CrashPoint> Points { get; }

    /// <summary>The class of the message if the process was killed after a number of requests and before the next one; of two, the first of the list.</summary>
    /// <exception cref="KitException">No experiment shows it.</exception>
    public DeliveryClass ClassAfter(int requests)
    {
        var kills = met[(requests, PointWay.Killed)].Concat(met[(requests + 1, PointWay.NeverSent)]).ToList();
        return kills.Count > 0 && kills.TrueForAll(kill => kill.HasMetPoint && kill.Observed.Count > 0)
            ? kills.SelectMany(kill => kill.Observed).Min(seen => seen.Class)
            : throw new KitException($"{source.Folder} does not show a kill after request {requests} of {cell}.", "Make its experiments again.");
    }
}
