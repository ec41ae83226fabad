namespace Kit.Runner.Results.Comparing;

/// <summary>Two sides next to each other: the answer, its basis, and reasons to doubt it.</summary>
/// <param name="commandLine">As typed, with secrets masked.</param>
/// <param name="speeds"><see langword="null"/> if the sides have no runs.</param>
/// <param name="promises"><see langword="null"/> if the sides have no experiments.</param>
public sealed class ComparisonReport(string commandLine, ComparedSpeeds? speeds, ComparedPromises? promises)
{
    /// <summary>The load from other processes while each round of two builds was made, by its name; empty for stored runs, whose rounds tell it.</summary>
    public IReadOnlyList<(string Round, Noise Noise)> Turns { get; init; } = [];

    public bool HasRegression => promises is { HasRegression: true } || (speeds?.Cells.Any(cell => cell.IsRegression) ?? false);

    /// <summary>
    /// True if nothing was compared, rounds failed, a threshold could not be judged for each cell of before and to the end of both runs, an experiment
    /// no longer shows anything, or the experiments of a side are not finished.
    /// </summary>
    public bool IsUnsound => NothingCompared.Any()
        || promises is { IsIncomplete: true }
        || (speeds is not null && (speeds.Invalid.Any() || speeds.NotJudged.Any() || (speeds.Limits.Threshold is not null && Unfinished.Any())));

    /// <summary>Markdown for a pull request.</summary>
    public void WriteMarkdown(TextWriter output)
    {
        output.WriteLine($"# {Title}");
        foreach (var section in Sections().Where(section => !section.IsEmpty))
        {
            output.WriteLine(section.Title.Length > 0 ? $"\n## {section.Title}\n" : "");
            foreach (var line in section.Lines)
                output.WriteLine($"- {Table.Escaped(line)}");
            if (section.Table.Rows.Count > 0)
                section.Table.WriteLines(output);
            if (section.Table.Legend is { Length: > 0 } legend)
                output.WriteLine((section.Table.Rows.Count > 0 ? "\n" : "") + legend);
        }
    }

    public void WriteTerminal(TextWriter output, int width)
    {
        var console = TerminalSummary.ConsoleOn(output, width);
        output.WriteLine(Title);
        foreach (var section in Sections().Where(section => !section.IsEmpty))
        {
            output.WriteLine();
            if (section.Table.Rows.Count > 0 && !section.IsWordy)
                section.Table.WriteTerminal(console);
            else if (section.Title.Length > 0)
                output.WriteLine($"{section.Title}:");
            foreach (var line in section.Lines.Select(line => $"- {line}")
                .Concat(section.IsWordy ? section.Table.Rows.SelectMany(row => Lines(section.Table, row)) : []))
                output.WriteLine(line);
            if (section.Table.Legend is { Length: > 0 } legend)
                output.WriteLine(legend);
        }
    }

    private static IEnumerable<string> Lines(Table table, IReadOnlyList<string> row) =>
        row.Zip(table.Columns, (cell, column) => $"    {column.Header.ToLowerInvariant()}: {cell}").Skip(1).Prepend($"- {row[0]}");

    private string Title => speeds is { IsPaired: true } ? "Comparison of two builds" : "Comparison of stored results";

    private IReadOnlyList<(string Name, RecordedRun Run)> Runs => speeds is null ? [] : [("before", speeds.Before), ("after", speeds.After)];

    private IEnumerable<(string Name, RecordedRun Run)> Unfinished => Runs.Where(side => side.Run.Document.Ending != RunEnding.Completed);

    private IEnumerable<string> NothingCompared
    {
        get
        {
            if (speeds?.WhyNothing is { } why)
                yield return $"NOTHING COMPARED: {why}.";
            if (promises is { Compared: 0 })
                yield return "NOTHING COMPARED: the two folders have no experiment in common.";
        }
    }

    private IEnumerable<Section> Sections()
    {
        yield return Section.Of("", [.. NothingCompared]);
        if (speeds is { IsPaired: false })
            yield return Differing(speeds);
        yield return Section.Of("", [.. Answer()]);
        if (speeds is not null)
        {
            yield return ComparisonText.SpeedsOf(speeds);
            yield return ComparisonText.SidesOf(speeds);
            if (speeds.IsPaired)
                yield return Differing(speeds);
            yield return Section.Of(
                "Not compared", [.. speeds.NotCompared.Concat(speeds.LeftOut).Select(left => $"{left.Cell}: {left.Because}")]);
            yield return Section.Of("Rounds that failed", [.. ComparisonText.FailuresOf(speeds)]);
        }

        if (promises is not null)
        {
            yield return ComparisonText.DifferencesOf("Differences between the experiments", promises.Differences, legend: "");
            yield return ComparisonText.ChangesOf(promises);
            yield return Section.Of("Experiments only before", ComparisonText.Shortened(promises.OnlyBefore));
            yield return Section.Of("Experiments only after", ComparisonText.Shortened(promises.OnlyAfter));
        }

        yield return Section.Of("", [$"Command: {commandLine}"]);
    }

    private static Section Differing(ComparedSpeeds speeds) => ComparisonText.DifferencesOf(
        speeds.IsPaired ? "Other differences between the builds" : "Differences between the runs",
        [.. Difference.Between(speeds.Before, speeds.After).Where(difference => !speeds.IsPaired || !difference.IsOfTheBuild)],
        speeds.IsPaired ? ComparisonText.Paired : ComparisonText.Warning);

    private IEnumerable<string> Answer()
    {
        if (speeds is not null)
        {
            foreach (var (name, run) in Unfinished)
                yield return $"INCOMPLETE: {name} is {run.Document.Ending}.";
            foreach (var warning in new[] { speeds.Before, speeds.After }.Select(run => ReportText.WarningOf(run.Document)).OfType<string>().Distinct())
                yield return warning;
            foreach (var (name, run) in Runs)
            {
                if (run.NoiseThatCounts is { } noise)
                    yield return $"{name}: {noise}";
            }

            foreach (var line in ComparisonText.NoiseOf(Turns))
                yield return line;
            foreach (var cell in speeds.Cells.Where(cell => cell.IsRegression))
                yield return $"REGRESSION: {cell.Cell} is slower by more than {Figures.Share(speeds.Limits.Threshold!.Value.Share)}.";
            foreach (var cell in speeds.NotJudged)
                yield return $"NOT JUDGED: {cell.Cell}: {cell.Because}.";
            yield return ComparisonText.CountsOf(speeds);
        }

        if (promises is not null)
        {
            foreach (var lack in promises.Lacks)
                yield return lack;
            foreach (var broken in promises.Changes.Where(change => change.Change is PromiseChange.Broken))
                yield return $"REGRESSION: {broken.After.Cell} breaks a promise under {broken.After.Fault}.";
            yield return $"Promises compared: {Figures.Count(promises.Compared)}. Changed: {Figures.Count(promises.Changes.Count)}.";
        }
    }
}
