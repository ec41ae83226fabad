namespace Kit.Runner.Results;

/// <summary>The head of every report: place, means and method of the measurements.</summary>
internal static class RunFacts
{
    private static readonly IReadOnlyList<Column<(string Name, string Fact)>> Columns =
        [new("Run", fact => fact.Name, IsFigure: false), new("Facts", fact => fact.Fact, IsFigure: false)];

    public static Table TableOf(RecordedRun run) => Table.Of(Columns, Of(run));

    public static IEnumerable<(string Name, string Fact)> Of(RecordedRun run)
    {
        var document = run.Document;
        yield return ("Command", document.CommandLine);
        yield return ("Time", $"{Figures.Moment(document.StartedUtc)} to {(document.EndedUtc is { } ended ? Figures.Moment(ended) : Figures.None)}");
        foreach (var resumed in document.Resumed ?? [])
            yield return ("Resumed", $"{Figures.Moment(resumed.AtUtc)}: {resumed.CommandLine}");
        yield return ("Ending", document.Ending.ToString());
        yield return ("Commit", document.Commit is { } commit ? $"{commit}" : "unknown");
        if (document.Build is { } build)
            yield return ("Build", $"{build.Folder}, version {build.Version}, fingerprint {build.Fingerprint}");
        yield return ("Machine", MachineOf(document.Host));
        yield return ("System", $"{document.Host.OperatingSystem}, {document.Host.Runtime}");
        foreach (var worker in document.Workers ?? [])
            yield return ($"Worker {Figures.Plain(worker.Number)}", $"{MachineOf(worker.Host)}, {worker.Host.OperatingSystem}, {worker.Host.Runtime}");
        yield return ("Server", Listed(document.Server));
        if (document.Broker.Count > 0)
            yield return ("Broker", Listed(document.Broker));
        if (document.SqlServer is { } sqlServer)
            yield return ("SQL Server", Listed(sqlServer));
        foreach (var (name, facts) in document.Servers ?? new Dictionary<string, IReadOnlyDictionary<string, string>>())
            yield return (name, Listed(facts));
        if (document.Disk is { } disk)
            yield return ("Disk", disk.Text);
        yield return ("Packages", Listed(document.Packages));
        yield return ("Settings", SettingsOf(document.Settings));
        if (document.Precision is { } precision)
            yield return ("Precision", precision.Text(document.Settings.Rounds));
        if (document.AtLeast is { } length)
            yield return ("Length of rounds", length.Text());
        yield return ("Transactions", $"{document.Isolation}; immediate retries: {Listed(Written(document.ImmediateRetries))}");
        yield return ("Pools", Listed(Written(document.PoolSizes)));
        yield return ("Seeding", document.SeedingSeconds is null ? Figures.None : $"{Figures.Measured(document.SeedingSeconds)} s");
        yield return ("Clock", ClocksOf(run.Rounds));
    }

    /// <summary>Versions of servers, each with its address if it is not the kit's own.</summary>
    /// <param name="named">Addresses; <see langword="null"/>: all are the kit's own.</param>
    internal static IReadOnlyDictionary<string, string> Placed(IReadOnlyDictionary<string, string> versions, IReadOnlyDictionary<string, string>? named) =>
        named is null
            ? versions
            : versions.ToDictionary(
                server => server.Key, server => named.TryGetValue(server.Key, out var place) ? $"{server.Value} (not the kit's own: {place})" : server.Value);

    internal static string MachineOf(HostFacts host) =>
        $"{Figures.Plain(host.Cores)} cores, {host.CpuModel}, {Figures.Measured(host.MemoryBytes / 1024d / 1024 / 1024)} GiB";

    private static string SettingsOf(RunSettings settings) =>
        $"{Figures.Count(settings.Messages)} messages, {Figures.Count(settings.Rounds)} rounds, concurrency {Figures.Plain(settings.Concurrency)}, " +
        $"{Figures.Count(settings.SeedRows)} rows seeded, {Figures.Count(settings.WarmUp)} warm-up messages, " +
        $"order seed {Figures.Plain(settings.OrderSeed)}" +
        (settings.Quick ? "; quick: shows that it works, not how fast it is" : "");

    private static string ClocksOf(IReadOnlyList<RoundDocument> rounds)
    {
        var clocks = rounds.Select(round => round.Clock).Distinct().Order().Select(clock => clock switch
        {
            ClockSource.CommitTimestamps => "first handler entry to last commit, by the database's commit timestamps",
            ClockSource.HandlerCompletions =>
                "first handler entry to last handler completion: the figures do not include the commit after it",
            _ => throw new InvalidOperationException($"There is no clock {clock}."),
        });
        return rounds.Count == 0 ? Figures.None : string.Join("; ", clocks);
    }

    private static Dictionary<string, string> Written(IReadOnlyDictionary<string, int> numbers) =>
        numbers.ToDictionary(number => number.Key, number => Figures.Plain(number.Value), StringComparer.Ordinal);

    /// <summary>Names and values in one line, by name.</summary>
    internal static string Listed(IReadOnlyDictionary<string, string> facts) =>
        facts.Count == 0
            ? Figures.None
            : string.Join(", ", facts.OrderBy(fact => fact.Key, StringComparer.Ordinal).Select(fact => $"{fact.Key} {fact.Value}"));
}
