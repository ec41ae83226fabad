using System.Collections.Concurrent;
using System.Diagnostics;
using System.Text.Json;
using Kit.Runner.Results;
using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Runner.Rounds.Joining;

/// <summary>
/// The session of one side, a run or a worker, in the database where they notify each other. Notifications are in no table and wait for no flush; the
/// server delivers them in the order of their commits, and says which session sent them.
/// </summary>
internal sealed class JoiningSession : IAsyncDisposable
{
    /// <summary>The application name by which workers find a run.</summary>
    public const string OfRun = "kit run with workers";

    /// <summary>Time between two signs of each side that it is there, and between two looks for the others.</summary>
    public static readonly TimeSpan Look = TimeSpan.FromMilliseconds(500);

    private const string Everyone = "kit_joining";

    // A notification has less than 8,000 bytes, and the JSON is ASCII.
    private const int MostInOne = 7_500;

    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(10);

    // A session that waits says nothing: it waits this long for others, then sends what is new.
    private static readonly TimeSpan Turn = TimeSpan.FromMilliseconds(50);

    private readonly NpgsqlConnection connection;
    private readonly JoiningNotice sign;
    private readonly ConcurrentQueue<(string Channel, JoiningNotice Notice)> unsaid = new();
    private readonly Queue<(int From, JoiningNotice Notice)> heard = [];
    private readonly Dictionary<int, string> begun = [];
    private readonly Dictionary<int, long> lastWords = [];
    private readonly Stopwatch sinceLook = Stopwatch.StartNew();
    private int[]? present;

    private JoiningSession(string server, string name, JoiningNotice sign)
    {
        connection = new(new NpgsqlConnectionStringBuilder(EndpointConnections.ForRunner(server)) { ApplicationName = name }.ConnectionString);
        connection.Notification += (_, notification) => Add(notification.PID, notification.Payload);
        this.sign = sign;
    }

    /// <param name="server">Connection string of the database.</param>
    /// <param name="name">The application name.</param>
    /// <param name="sign">Tells everyone that this side is there.</param>
    public static async Task<JoiningSession> OpenAsync(string server, string name, JoiningNotice sign, CancellationToken cancellationToken)
    {
        var session = new JoiningSession(server, name, sign);
        try
        {
            await session.connection.OpenAsync(cancellationToken);
            await session.connection.ExecuteAsync($"LISTEN {Everyone}; LISTEN {ChannelTo(session.connection.ProcessID)}", cancellationToken);
            return session;
        }
        catch
        {
            await session.DisposeAsync();
            throw;
        }
    }

    /// <summary>Has <see cref="HearAsync"/> notify another side, or everyone.</summary>
    public void Say(int? to, JoiningNotice notice) => unsaid.Enqueue((to is { } id ? ChannelTo(id) : Everyone, notice));

    /// <summary>Waits for the next notice.</summary>
    /// <returns>Its sender's id, and the notice; <see langword="null"/>: it is time to ask for <see cref="EndOf"/>, and all notices are heard.</returns>
    /// <exception cref="KitException">The session has broken.</exception>
    public async Task<(int From, JoiningNotice Notice)?> HearAsync(CancellationToken cancellationToken)
    {
        try
        {
            for (var hasLooked = false; !heard.TryPeek(out _);)
            {
                if (hasLooked)
                    return null;
                // Not cancelled half-way: the session must still say that this side leaves.
                cancellationToken.ThrowIfCancellationRequested();
                await SendAsync();
                if (hasLooked = sinceLook.Elapsed > Look)
                    await LookAsync();
                else
                    await connection.WaitAsync(Turn, CancellationToken.None);
            }
        }
        catch (NpgsqlException broken)
        {
            throw new KitException(
                $"The connection between run and workers broke: {broken.Message}", "See the server's log; 'run --resume' goes on with the run.", broken);
        }

        return heard.Dequeue();
    }

    /// <summary>Notifies another side for the last time.</summary>
    public async Task SayLastAsync(int to, JoiningNotice notice)
    {
        Say(to, notice);
        try
        {
            await SendAsync();
        }
        catch (NpgsqlException)
        {
            // The other side finds out by itself.
        }
    }

    /// <summary>The end of another side; <see langword="null"/>: it is there.</summary>
    public string? EndOf(int side) => present?.Contains(side) is false ? "its connection to the database has ended"
        : lastWords.TryAdd(side, Stopwatch.GetTimestamp()) || Stopwatch.GetElapsedTime(lastWords[side]) < Silence ? null
        : $"no word from it for {Figures.Plain((int)Silence.TotalSeconds)} s";

    /// <summary>True if the role of another side has the rights of this one's.</summary>
    public async Task<bool> TrustsAsync(int side)
    {
        await using var command = new NpgsqlCommand(
            "SELECT pg_has_role(usesysid, current_user, 'USAGE') FROM pg_stat_activity WHERE pid = $1", connection)
        { Parameters = { new() { Value = side } } };
        return await command.ExecuteScalarAsync() is true;
    }

    public ValueTask DisposeAsync() => connection.DisposeAsync();

    private static string ChannelTo(int side) => $"{Everyone}_{Figures.Plain(side)}";

    private async Task SendAsync()
    {
        while (unsaid.TryDequeue(out var next))
        {
            var pieces = JsonSerializer.Serialize(next.Notice).Chunk(MostInOne).Select(piece => new string(piece)).ToArray();
            // The number of pieces that follow: without it, PostgreSQL would send equal ones once.
            await using var command = new NpgsqlCommand(
                "SELECT pg_notify($1, cardinality($2) - place || ':' || piece) FROM unnest($2) WITH ORDINALITY AS pieces (piece, place) ORDER BY place",
                connection)
            { Parameters = { new() { Value = next.Channel }, new() { Value = pieces } } };
            await command.ExecuteNonQueryAsync();
        }
    }

    private async Task LookAsync()
    {
        Say(to: null, sign);
        await using var command = new NpgsqlCommand("SELECT array_agg(pid) FROM pg_stat_activity", connection);
        present = (int[])(await command.ExecuteScalarAsync())!;
        sinceLook.Restart();
    }

    // Everyone who may connect to the database may notify: what is no notice is ignored.
    private void Add(int from, string payload)
    {
        lastWords[from] = Stopwatch.GetTimestamp();
        var text = begun.GetValueOrDefault(from) + payload[(payload.IndexOf(':', StringComparison.Ordinal) + 1)..];
        var isWhole = payload.StartsWith("0:", StringComparison.Ordinal);
        begun[from] = isWhole ? "" : text;
        if (isWhole && Parse(text) is { } notice)
            heard.Enqueue((from, notice));
    }

    private static JoiningNotice? Parse(string text)
    {
        try
        {
            return JsonSerializer.Deserialize<JoiningNotice>(text);
        }
        catch (Exception foreign) when (foreign is JsonException or NotSupportedException)
        {
            return null;
        }
    }
}
