using Kit.Guarantees;

namespace Kit.Runner.Results.Drains;

/// <summary>The speed of a service, for people.</summary>
public sealed class DrainTables(DrainDocument document)
{
    private static readonly IReadOnlyList<Column<DrainRound>> Columns =
    [
        new("Round", LabelOf, IsFigure: false),
        new("Seconds", round => Figures.Measured(round.Throughput.ElapsedSeconds)),
        new("Avg msg/s", round => Figures.Measured(round.Throughput.AveragePerSecond)),
        new("Middle half msg/s", round => Figures.Measured(round.Throughput.MiddleHalfPerSecond)),
        new("Max msg/s", round => Figures.Measured(round.Throughput.MaximumInOneSecond)),
        new("Start s", round => Figures.Measured(round.StartSeconds)),
        new("Commits", round => Figures.Measured(round.Costs.Commits.Value)),
        new("Flushes", round => Figures.Measured(round.Costs.WalFlushes.Value)),
        new("WAL bytes", round => Figures.Measured(round.Costs.WalBytes.Value)),
        new("Service CPU ms", round => Figures.Measured(round.Costs.HandlerCpuMilliseconds.Value)),
        new("Server CPU ms", round => Figures.Measured(round.Costs.ServerCpuMilliseconds.Value)),
        new("Others' CPU", round => round.Noise.OtherCpuShare.Value is { } share ? Figures.Share(share) : Figures.None),
    ];

    private static readonly IReadOnlyList<Column<SampledState>> OfSessions =
    [
        new("State of a session", state => state.Name, IsFigure: false),
        new("ms per message", state => Figures.Measured(state.MillisecondsPerMessage)),
    ];

    private static readonly Column<DrainRound> Ping = new("Ping ms", round => Figures.Measured(round.Network?.Trip.MeanMilliseconds));

    private readonly IReadOnlyList<DrainRound> counting = document.Counting;
    private readonly IReadOnlyList<DrainRound> rounds = [.. document.Rounds.OrderBy(round => round.Round).ThenBy(round => round.Attempt)];

    /// <summary>The result in one sentence.</summary>
    public string Summary => document.Rate is { } rate
        ? $"{document.Name} handles {Figures.Measured(rate.Mean)} messages a second{Distance}" +
          (rate.Factor is null ? "" : $" (95 % interval {SummaryTable.IntervalOf(rate)}, CV {Figures.Share(rate.Variation!.Value)})") +
          $": {Figures.Count(rate.Count)} of {Figures.Count(document.Planned, "round")} of {Figures.Count(document.Messages, "message")} " +
          $"{(rate.Count == 1 ? "counts" : "count")}."
        : $"{document.Name}: no round counts.";

    /// <summary>Writes the rounds and the result.</summary>
    /// <param name="width">Columns of the terminal.</param>
    public void WriteTerminal(TextWriter output, int width)
    {
        (RoundsTable with { Title = document.Name + Distance }).WriteTerminal(TerminalSummary.ConsoleOn(output, width));
        output.WriteLine($"\n{Summary}");
        if (ReportText.WarningOf(document.Disk) is { } warning)
            output.WriteLine(warning);
        foreach (var line in Handled.Concat(Traced).Concat(Clock is { } clock ? [clock] : []))
            output.WriteLine(line);
        if (States is { Rows.Count: > 0 } states)
            states.WriteTerminal(TerminalSummary.ConsoleOn(output, width));
    }

    public void WriteMarkdown(TextWriter output)
    {
        output.WriteLine($"# How fast does {document.Name} drain its queue?\n");
        output.WriteLine($"{Summary}\n");
        var servers = string.Join(", ", RunFacts.Placed(document.Servers, document.Named).Select(server => $"{server.Key} {server.Value}"));
        var whose = document.Named is null ? "the kit's own servers" : "servers";
        output.WriteLine($"{Figures.Moment(document.StartedUtc)}, on {whose} ({servers}); {RunFacts.MachineOf(document.Host)}.");
        if (document.Disk is { } disk)
            output.WriteLine($"Files of the servers: {disk.Text}.");
        if (ReportText.WarningOf(document.Disk) is { } warning)
            output.WriteLine($"\n**{warning}**");
        (RoundsTable with
        {
            Title = $"Rounds{Distance}",
            Legend =
                $"In each round {Figures.Count(document.WarmUp + document.Messages, "message")} wait when the service starts. The clock starts at the first " +
                $"effect after the warm-up of {Figures.Count(document.WarmUp)}, and ends at the last effect. A row's moment is that of its commit, " +
                $"{(document.HasLog ? "from the database's log" : "by its commit timestamp")}; a sent message's is its receipt, a call's its arrival. " +
                "*Start*: from the start of the process to its first effect. " +
                "Commits, flushes, WAL and CPU time are for each message that was put in, with the start of the service and its polls until it is stopped. " +
                (document.RoundTrip is null ? "" : $"*Ping*: a round trip through the kit's proxy{Alone}, measured next to the round. ") +
                "Figures in brackets do not count.",
        }).WriteMarkdown(output);
        MarkdownTables.WriteList("One handling", Handled, output);
        MarkdownTables.WriteList("Where the time goes", Traced, output);
        if (States is { Rows.Count: > 0 } states)
        {
            output.WriteLine();
            states.WriteLines(output);
        }

        MarkdownTables.WriteList("Notes", [.. document.Lacks ?? [], .. Notes], output);
    }

    /// <summary>A server of the kit is on the machine of the proxy.</summary>
    private string Alone => document.Named is null ? "" : " without the way from there to your servers";

    private string Distance => ReportText.DistanceOf(document.RoundTrip);

    private Table RoundsTable => Table.Of([.. Shown(document.RoundTrip is null ? Columns : [.. Columns, Ping])], rounds);

    private IEnumerable<string> Handled => document.Handling?.Lines ?? [];

    private Table? States =>
        document.Traced is { Sessions: { } sessions, Outcome: var outcome } && outcome.IsValid() ? Table.Of(OfSessions, sessions) : null;

    /// <summary>The traffic of a message, or the reason why it is not known.</summary>
    private IEnumerable<string> Traced
    {
        get
        {
            if (document.Traced is not { } traced)
            {
                yield return document.Servers.ContainsKey("postgresql")
                    ? "Statements, round trips and waits are not known: no drain through the kit's proxy was made."
                    : "Statements, round trips and waits are counted for PostgreSQL, and the service has no database of the kit.";
                yield break;
            }

            if (!traced.Outcome.IsValid() || traced.Network is not { } network)
            {
                yield return $"Statements, round trips and waits are not known: the drain through the kit's proxy is {traced.Outcome}: " +
                    $"{string.Join("; ", traced.Outcome.Reasons).TrimEnd('.')}.";
                yield break;
            }

            var statements = network.SqlStatements is { Value: { } count }
                ? $"{Figures.Measured(count)} statements"
                : $"a number of statements that is not known ({network.SqlStatements.Because})";
            yield return
                $"Through the kit's proxy ({Figures.Measured(traced.Throughput.AveragePerSecond)} messages a second, in no rate), a message takes " +
                $"{Figures.Measured(network.SqlRoundTrips.Value)} round trips to PostgreSQL, with " +
                $"{statements}, over up to {Figures.Count(network.SqlConnections, "connection")}. " +
                $"A ping{Alone} takes {Figures.Measured(network.Trip.MeanMilliseconds)} ms.";
            yield return
                "States of sessions are sampled 50 times a second, over all sessions together; idle ones are left out. Start and polls of the service are in " +
                "all of this.";
            if (document.Servers.ContainsKey("rabbitmq"))
                yield return "What passes to RabbitMQ is not counted: a client awaits no answer to most of it. 'check' lists it for one message.";
        }
    }

    private IEnumerable<string> Notes =>
    [
        .. document.NotMade is { } notMade ? [notMade] : Array.Empty<string>(),
        .. document.Prolonged is { } prolonged ? [prolonged] : Array.Empty<string>(),
        .. rounds.SelectMany(NotesOf),
        .. rounds.Where(round => round.Outcome.IsValid())
            .SelectMany(round => round.Costs.Named().Append((Name: "load from other processes", Reading: round.Noise.OtherCpuShare)))
            .Where(figure => figure.Reading.Value is null)
            .Select(figure => $"{figure.Name} not measured: {figure.Reading.Because}.").Distinct(StringComparer.Ordinal),
        (document.RoundTrip is { } added
            ? $"In the rounds the kit's proxy is between the service and its servers, and adds {added} to each round trip. "
            : "In the rounds the service is told the servers' own addresses: the kit's proxy is not between. ") +
        (document.HasLog ? "The servers write a log for logical decoding, which is a little longer." : ""),
        .. Clock is { } clock ? [clock] : Array.Empty<string>(),
    ];

    /// <summary>The use of two clocks.</summary>
    private string? Clock => document.Counting.Select(round => round.ServerClock).OfType<ServerClock>().MaxBy(clock => clock.ErrorMilliseconds) is { } compared
        ? $"Commits have their moments by the clock of the database server, which was {compared} of this machine's. Between two commits that error is in no " +
          "figure. It is in the time of the start, and where a sent message or a call is the first or the last effect."
        : null;

    private IEnumerable<string> NotesOf(DrainRound round)
    {
        if (!round.Outcome.IsValid())
        {
            yield return $"{round.Name}: {round.Outcome}, not in the average: {string.Join("; ", round.Outcome.Reasons).TrimEnd('.')}." +
                (round.Accounts.Values.Sum() is > 0 and var all
                    ? $" Of {Figures.Count(all, "message")}: {AccountsOf(round)}."
                    : "");
        }

        if (round.Noise.IsNoisy())
        {
            yield return $"{round.Name}: noisy, {RoundNotes.LoadOf(round.Noise)}. " +
                (counting.Contains(round) ? "It counts." : "It does not count.");
        }
    }

    private static string AccountsOf(DrainRound round) => string.Join(
        ", ",
        round.Accounts.Where(account => account.Value > 0).OrderBy(account => account.Key)
            .Select(account => $"{Figures.Count(account.Value)} {Words.Of(account.Key)}"));

    /// <summary>The columns, with the figures of a round that does not count in brackets.</summary>
    private IEnumerable<Column<DrainRound>> Shown(IEnumerable<Column<DrainRound>> columns) => columns.Select(column => !column.IsFigure ? column
        : column with
        {
            Text = round => column.Text(round) is var figure && (figure == Figures.None || counting.Contains(round)) ? figure : $"({figure})",
        });

    private static string LabelOf(DrainRound round) =>
        Figures.Plain(round.Round) + (round.Attempt > 1 ? " again" : "") + (round.Noise.IsNoisy() ? " noisy" : "")
        + (round.Outcome.IsValid() ? "" : $" {round.Outcome}");
}
