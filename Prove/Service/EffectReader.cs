using System.Diagnostics;
using System.Globalization;
using Kit.Prove.Files;
using Kit.Runner.Faults.Points;
using Kit.Runner.Results;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Prove.Service;

/// <summary>Reads the effects and the counts of a file. A table that is not there has no rows: the application may create it when it starts.</summary>
internal sealed class EffectReader(ProofFile file, ProofBed bed)
{
    private readonly Dictionary<string, List<string>> taken = file.Effects.OfType<QueueEffect>().ToDictionary(effect => effect.Name, _ => new List<string>());
    private readonly HashSet<(string Exchange, string RoutingKey)> published = [];
    private readonly HashSet<string> absent = [.. file.Effects.Where(effect => effect.IsDeadLetter).Select(effect => effect.Name)];
    private readonly HashSet<string> received = [];
    private readonly Dictionary<string, string> missing = [];
    private readonly Dictionary<string, RefusedStatement> refused = [];
    private readonly Dictionary<string, IReadOnlyList<string>> lastRead = [];
    private readonly HashSet<string> locked = [];

    /// <summary>The reasons why some statements found nothing, the last time they were executed.</summary>
    public IEnumerable<string> Missing => missing.Values;

    /// <summary>The publishes that brought messages into the queues of effects, as requests in a list.</summary>
    public IEnumerable<string> Publishes =>
        published.Select(one => Handling.NameOf(Placeholders.Broker, StatementText.Normal(AmqpMethod.PublishTo(one.Exchange, one.RoutingKey))));

    /// <summary>The dead letters whose table or queue was never there. A name that is spelt wrongly looks the same.</summary>
    public IReadOnlyList<string> Absent => [.. absent.Order(StringComparer.Ordinal)];

    /// <summary>Leaves the messages of an effect to whoever receives them from now on.</summary>
    public void LeaveToReceiver(QueueEffect effect) => received.Add(effect.Name);

    /// <summary>The effects so far, by name: texts with ids. Of a table that somebody has locked, those of the time before.</summary>
    /// <exception cref="KitException">A statement fails.</exception>
    public async Task<IReadOnlyDictionary<string, IReadOnlyList<string>>> ReadAsync(CancellationToken cancellationToken)
    {
        var read = new Dictionary<string, IReadOnlyList<string>>();
        foreach (var effect in file.Effects)
        {
            cancellationToken.ThrowIfCancellationRequested();
            read[effect.Name] = effect switch
            {
                RowEffect row => await QueryAsync(row, cancellationToken),
                QueueEffect message => await TakeAsync(message),
                CallEffect call => bed.Calls.Read(call.Path),
                _ => throw new UnreachableException($"No way to read a {effect.GetType().Name}."),
            };
        }

        return read;
    }

    /// <summary>The work that is left, as texts, with the statements that could not be executed because of a lock.</summary>
    /// <inheritdoc cref="ReadAsync" path="/exception"/>
    public async Task<IReadOnlyList<string>> ReadLeftAsync(CancellationToken cancellationToken) =>
    [
        .. (await CountsAsync(cancellationToken)).Select(left => string.Create(CultureInfo.InvariantCulture, $"{left.What}: {left.Count}")),
        .. locked.Order(StringComparer.Ordinal).Select(what => $"{what} cannot be read: its table is locked"),
    ];

    /// <summary>The work that is left, as a number.</summary>
    /// <inheritdoc cref="ReadAsync" path="/exception"/>
    public async Task<long> CountLeftAsync(CancellationToken cancellationToken) => (await CountsAsync(cancellationToken)).Sum(left => left.Count);

    private async Task<IReadOnlyList<(string What, long Count)>> CountsAsync(CancellationToken cancellationToken)
    {
        var left = new List<(string What, long Count)>();
        var queues = file.Idle.OfType<IdleQueue>().Any() ? await bed.Queues.CountAsync(cancellationToken) : new Dictionary<string, long>();
        foreach (var idle in file.Idle)
        {
            var count = idle switch
            {
                IdleQueue queue => CountOf(queue, queues),
                IdleStatement statement => await CountAsync(statement, cancellationToken),
                _ => throw new UnreachableException($"No way to count a {idle.GetType().Name}."),
            };
            if (count != 0)
                left.Add(($"{idle}", count));
        }

        if (await bed.CountPreparedAsync(cancellationToken) is > 0 and var prepared)
            left.Add(("prepared transactions", prepared));
        return left;
    }

    private async Task<IReadOnlyList<string>> QueryAsync(RowEffect row, CancellationToken cancellationToken)
    {
        var what = $"{(row.IsDeadLetter ? "dead letter" : "effect")} '{row.Name}'";
        var rows = await QueryAsync(what, row.Database, row.Sql, cancellationToken);
        if (!missing.ContainsKey(what))
            absent.Remove(row.Name);
        // An application can create their table with the first one.
        if (row.IsDeadLetter)
            missing.Remove(what);
        return rows;
    }

    private async Task<IReadOnlyList<string>> TakeAsync(QueueEffect effect)
    {
        // Nobody else takes them, unless they are received.
        if (!received.Contains(effect.Name) && await bed.Queues.TakeAsync(effect.Queue, taken[effect.Name], published))
            absent.Remove(effect.Name);
        return [.. taken[effect.Name]];
    }

    private long CountOf(IdleQueue idle, IReadOnlyDictionary<string, long> queues)
    {
        if (queues.TryGetValue(idle.Queue, out var count))
            missing.Remove($"{idle}");
        else
            missing[$"{idle}"] = $"the {idle} does not exist";
        return count;
    }

    private async Task<long> CountAsync(IdleStatement idle, CancellationToken cancellationToken)
    {
        var rows = await QueryAsync($"{idle}", idle.Database, idle.Sql, cancellationToken);
        if (rows.Count == 0 && (missing.ContainsKey($"{idle}") || locked.Contains($"{idle}")))
            return 0;

        return rows is [var only] && long.TryParse(only, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out var count)
            ? count
            : throw new KitException($"{file.Path}: expected one number of the {idle}, found {(rows.Count == 1 ? $"'{rows[0]}'" : $"{rows.Count} rows")}.",
                "Use SELECT count(*) FROM …")
            { IsUsage = true };
    }

    private async Task<IReadOnlyList<string>> QueryAsync(string what, string database, string sql, CancellationToken cancellationToken)
    {
        try
        {
            var rows = await bed.ReadAsync(database, sql, cancellationToken);
            missing.Remove(what);
            refused.Remove(what);
            locked.Remove(what);
            lastRead[what] = rows;
            return rows;
        }
        catch (PostgresException refusal) when (refusal.SqlState == PostgresErrorCodes.LockNotAvailable)
        {
            locked.Add(what);
            return lastRead.GetValueOrDefault(what, []);
        }
        catch (PostgresException refusal) when (Refused(what).CanComeRight(refusal))
        {
            missing[what] = $"the {what} fails in database '{database}': {RefusedStatement.TextOf(refusal)}";
            return [];
        }
        catch (PostgresException refusal)
        {
            throw new KitException(
                $"{file.Path}: the {what} fails in database '{database}': {RefusedStatement.TextOf(refusal)}.", $"Correct the statement: {sql}", refusal)
            {
                IsUsage = true,
            };
        }
    }

    private RefusedStatement Refused(string what)
    {
        refused.TryAdd(what, new RefusedStatement());
        return refused[what];
    }
}
