namespace Kit.Runner.Results.Views;

/// <summary>The rows as one table of texts, which the page copies as Markdown and CSV.</summary>
/// <param name="Rows">A row of texts for each row of the view.</param>
public sealed record ViewExport(IReadOnlyList<ViewColumn> Columns, IReadOnlyList<ViewExportRow> Rows)
{
    private static readonly IReadOnlyList<(ViewColumn Column, Func<ViewRow, string?> Text)> Known =
    [
        (new("messages_per_second", "msg/s", true), row => row.Speed?.Mean.Text),
        (new("low_95", "from", true), row => row.Speed?.Low.Text),
        (new("high_95", "to", true), row => row.Speed?.High.Text),
        (new("valid_rounds", "valid rounds", true), row => row.Speed is { } speed ? Figures.Plain(speed.Rounds) : null),
        (new("ratio_to_strictest", "ratio to strictest", false), row => row.Speed?.ToStrictest),
        (new("place", "place", true), row => row.Place is { } place ? Figures.Plain(place) : null),
        (new("not_once", "not exactly once", false), row => row.WhyUnproven ?? Joined(row, storm => storm.Found)),
        (new("storm_messages", "messages in the storm", false), row => row.WhyUnproven is null ? Joined(row, storm => Figures.Count(storm.Messages)) : null),
        (new("storm", "storm", false), row => row.WhyUnproven is null ? Joined(row, storm => storm.Done) : null),
        (new("single_faults", "single faults", false), row => row.Faults?.Text),
        (new("commits_per_message", "commits", true), row => row.Costs?.Commits.Text),
        (new("wal_flushes_per_message", "flushes", true), row => row.Costs?.Flushes.Text),
        (new("round_trips_per_message", "round trips", true), row => row.Costs?.RoundTrips.Text),
        (new("wal_bytes_per_message", "WAL bytes", true), row => row.Costs?.WalBytes.Text),
    ];

    internal static ViewExport Of(IReadOnlyList<string> axes, IReadOnlyList<ViewRow> rows) => new(
        [.. axes.Select(axis => new ViewColumn(axis, axis, IsFigure: false)), .. Known.Select(column => column.Column)],
        [
            .. rows.Select(row => new ViewExportRow(
                row.Id,
                [.. axes.Select(axis => row.Cell[axis]), .. Known.Select(column => column.Text(row) ?? Figures.None)])),
        ]);

    private static string Joined(ViewRow row, Func<ViewStorm, string> text) =>
        string.Join("; ", row.Storms.Where(storm => storm.IsOfThisBuild).Select(text));
}

/// <summary>A column of the exported table.</summary>
/// <param name="Name">In CSV.</param>
/// <param name="Header">In Markdown.</param>
/// <param name="IsFigure">True if CSV writes its texts without separators.</param>
public sealed record ViewColumn(string Name, string Header, bool IsFigure);

/// <summary>A row of the exported table.</summary>
public sealed record ViewExportRow(string Id, IReadOnlyList<string> Texts);
