using System.Globalization;
using System.Text.Json;
using Kit.Prove.Files;
using Kit.Runner.Results;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Prove.Service;

/// <summary>Tells what holds work that is left when nothing moves any more, from the servers' own views.</summary>
internal sealed class HeldWork(ProofFile file, ProofBed bed)
{
    private const int MostLines = 3;
    private const int MostColumns = 4;
    private const int LongestValue = 40;

    private const string Waits =
        """
        SELECT w.query, extract(epoch FROM clock_timestamp() - w.query_start)::int,
               b.state, extract(epoch FROM clock_timestamp() - b.xact_start)::int, b.query
        FROM pg_stat_activity w
        CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS holder(pid)
        LEFT JOIN pg_stat_activity b ON b.pid = holder.pid
        WHERE w.datname = ANY($1)
        ORDER BY w.query_start
        """;

    private const string Prepared =
        "SELECT gid, extract(epoch FROM clock_timestamp() - prepared)::int FROM pg_prepared_xacts WHERE database = ANY($1) ORDER BY prepared";

    private const string Open =
        """
        SELECT state, extract(epoch FROM clock_timestamp() - xact_start)::int, query, backend_start < $2
        FROM pg_stat_activity
        WHERE datname = ANY($1) AND backend_type = 'client backend' AND pid <> pg_backend_pid()
          AND xact_start < clock_timestamp() - interval '5 s' AND cardinality(pg_blocking_pids(pid)) = 0
        ORDER BY xact_start
        """;

    private const string Advisory =
        """
        SELECT l.objid::bigint, extract(epoch FROM clock_timestamp() - a.backend_start)::int, a.backend_start < $2
        FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.granted AND a.datname = ANY($1)
        ORDER BY a.backend_start
        """;

    private readonly Dictionary<Guid, IReadOnlyList<WorkRow>> putIn = [];

    /// <summary>Remembers the rows that have the id of a message, right after it was put in.</summary>
    public async Task RememberAsync(Guid message, CancellationToken cancellationToken)
    {
        if (file is not { NeedsDatabases: true, Send: SendBySql or SendByCommand })
            return;

        try
        {
            putIn[message] = await ReadRowsAsync(message, cancellationToken);
        }
        catch (NpgsqlException)
        {
            // Somebody has locked a table. Then it is not known what has changed.
            putIn.Remove(message);
        }
    }

    public void Forget() => putIn.Clear();

    /// <summary>Up to three sentences.</summary>
    /// <param name="messages">Messages whose work can be left.</param>
    /// <param name="startedUtc">The last start of the application.</param>
    public async Task<IReadOnlyList<string>> ReadAsync(IReadOnlyList<Guid> messages, DateTime startedUtc, CancellationToken cancellationToken)
    {
        try
        {
            IReadOnlyList<string> sessions = file.NeedsDatabases ? await ReadSessionsAsync(startedUtc, cancellationToken) : [];
            // One message stands for all: the one whose row was seen when it was put in.
            var rows = messages.OrderByDescending(putIn.ContainsKey).FirstOrDefault() is var one && one != Guid.Empty && file.NeedsDatabases
                ? LinesOf(putIn.GetValueOrDefault(one), await ReadRowsAsync(one, cancellationToken))
                : [];
            List<string> lines = [.. sessions, .. await ReadQueuesAsync(cancellationToken), .. rows];
            if (file is { NeedsDatabases: true, Later.Count: 0 } && sessions.Count == 0 && rows.Count > 0)
                lines.Add("no session and no prepared transaction holds it. If it is a lease, 'later' in the file says how it becomes old");
            return [.. lines.Take(MostLines)];
        }
        catch (Exception silent) when (silent is NpgsqlException or HttpRequestException)
        {
            return [$"what holds it is not known: {KitException.MessageOf(silent)}"];
        }
    }

    /// <summary>The rows of a message and their changes.</summary>
    /// <param name="before">Right after it was put in; <see langword="null"/>: not known.</param>
    public static IReadOnlyList<string> LinesOf(IReadOnlyList<WorkRow>? before, IReadOnlyList<WorkRow> now) =>
    [
        .. from row in now
           let changed = before?.Where(old => old.Table == row.Table).Select(old => ChangedIn(old, row)).MinBy(columns => columns.Count)
           orderby changed is { Count: > 0 } descending
           select before is null ? $"its row is in {row.Table}"
               : changed is null ? $"a row in {row.Table} has its id, and came after it was put in"
               : changed.Count == 0 ? $"its row in {row.Table} is as it was put in"
               : $"its row in {row.Table} has changed since it was put in: {string.Join(", ", changed.Take(MostColumns))}" +
                 (changed.Count > MostColumns ? $", and {Figures.Count(changed.Count - MostColumns, "more column")}" : ""),
    ];

    private async Task<IReadOnlyList<string>> ReadSessionsAsync(DateTime startedUtc, CancellationToken cancellationToken)
    {
        var waits = await bed.ReadServerAsync(
            Waits, row => $"\"{Shown(row, 0)}\" has waited {Time(row, 1)} for a lock of " +
                (row.IsDBNull(2) ? "a prepared transaction" : $"a session that {StateOf(row, 2, 3, 4)}"),
            startedUtc, cancellationToken);
        var prepared = await bed.ReadServerAsync(
            Prepared, row => $"transaction '{row.GetString(0)}' has been prepared for {Time(row, 1)}, and nobody ends it", startedUtc, cancellationToken);
        var open = await bed.ReadServerAsync(
            Open, row => $"a session {StateOf(row, 0, 1, 2)}{OfDead(row, 3)}", startedUtc, cancellationToken);
        var advisory = await bed.ReadServerAsync(
            Advisory, row => $"advisory lock {row.GetInt64(0)} is held by a session that has been open for {Time(row, 1)}{OfDead(row, 2)}",
            startedUtc, cancellationToken);
        return [.. new[] { waits, prepared, open, advisory }.Where(lines => lines.Count > 0).Select(First)];
    }

    private async Task<IReadOnlyList<string>> ReadQueuesAsync(CancellationToken cancellationToken)
    {
        if (!file.NeedsBroker)
            return [];

        var lines = new List<string>();
        foreach (var queue in file.Idle.OfType<IdleQueue>())
        {
            if (await bed.Queues.LookAsync(queue.Queue, cancellationToken) is not { } found || found.Ready + found.Unacknowledged == 0)
                continue;
            lines.Add(
                $"queue '{queue.Queue}' has {Figures.Count(found.Ready, "ready message")}, {Figures.Count(found.Unacknowledged)} unacknowledged, " +
                $"and {(found.Consumers == 0 ? "no consumer" : Figures.Count(found.Consumers, "consumer"))}");
        }

        return lines;
    }

    private async Task<IReadOnlyList<WorkRow>> ReadRowsAsync(Guid message, CancellationToken cancellationToken)
    {
        var rows = new List<WorkRow>();
        foreach (var database in file.Databases.Distinct())
            rows.AddRange(await bed.FindRowsAsync(database, message, cancellationToken));
        return rows;
    }

    private static string First(IReadOnlyList<string> lines) => lines.Count == 1 ? lines[0] : $"{lines[0]} (and {Figures.Count(lines.Count - 1)} more)";

    private static List<string> ChangedIn(WorkRow old, WorkRow now) =>
    [
        .. from column in now.Columns
           let before = old.Columns.GetValueOrDefault(column.Key)
           where before.ValueKind is not JsonValueKind.Undefined && before.GetRawText() != column.Value.GetRawText()
           select $"{column.Key} {Shown(before)} → {Shown(column.Value)}",
    ];

    private static string Shown(JsonElement value) => Shortened($"{(value.ValueKind is JsonValueKind.Null ? "null" : value)}");

    private static string Shortened(string text) => text.Length > LongestValue ? $"{text[..LongestValue]} …" : text;

    private static string Shown(NpgsqlDataReader row, int column) => StatementText.Short(StatementText.Normal(row.GetString(column)));

    private static string Time(NpgsqlDataReader row, int column) => string.Create(CultureInfo.InvariantCulture, $"{row.GetInt32(column)} s");

    private static string StateOf(NpgsqlDataReader row, int state, int since, int query) => row.IsDBNull(since)
        ? $"is {row.GetString(state)}"
        : row.GetString(state).StartsWith("idle", StringComparison.Ordinal)
            ? $"has been idle in its transaction, which is open for {Time(row, since)}, after \"{Shown(row, query)}\""
            : $"has had its transaction open for {Time(row, since)}, and executes \"{Shown(row, query)}\"";

    private static string OfDead(NpgsqlDataReader row, int isOlder) => row.GetBoolean(isOlder) ? ", of a process before the last start" : "";
}

/// <summary>A row that has the id of a message.</summary>
/// <param name="Table">With its schema, unless that is <c>public</c>.</param>
internal sealed record WorkRow(string Table, IReadOnlyDictionary<string, JsonElement> Columns);
