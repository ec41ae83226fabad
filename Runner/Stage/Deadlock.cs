using System.Data.Common;
using Npgsql;

namespace Kit.Runner.Stage;

/// <summary>A real deadlock between a handler's connection and a rival, which the handler always loses.</summary>
internal static class Deadlock
{
    /// <summary>Two rows to lock in two orders.</summary>
    public const string CreateTable = "CREATE TABLE lockable (id integer PRIMARY KEY); INSERT INTO lockable VALUES (1), (2)";

    /// <summary>The first session to check for a deadlock becomes the victim; the rival never gets to check.</summary>
    private const string NeverTheVictim = "SET deadlock_timeout = '10min'";

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(10);

    /// <summary>Locks both rows in one statement on <paramref name="connection"/> while a rival holds the second and then asks for the first.</summary>
    /// <exception cref="DbException">The deadlock (SQL state 40P01), always.</exception>
    public static async Task LoseAsync(DbConnection connection, string widgets, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(widgets) { Enlist = false, Pooling = false });
        await using var rival = await source.OpenConnectionAsync(cancellationToken);
        await ExecuteAsync(rival, NeverTheVictim, cancellationToken);
        await using var transaction = await rival.BeginTransactionAsync(cancellationToken);
        await ExecuteAsync(rival, "SELECT FROM lockable WHERE id = 2 FOR UPDATE", cancellationToken);

        var both = ExecuteAsync(connection, "SELECT FROM lockable ORDER BY id FOR UPDATE", cancellationToken);
        await using (var onlooker = await source.OpenConnectionAsync(cancellationToken))
        {
            while (!both.IsCompleted && !await IsWaitedForAsync(onlooker, rival.ProcessID, cancellationToken))
                await Task.Delay(Pause, cancellationToken);
        }

        await Task.WhenAll(both, ExecuteAsync(rival, "SELECT FROM lockable WHERE id = 1 FOR UPDATE", cancellationToken));
    }

    /// <summary>True if a session waits for a lock of another one.</summary>
    internal static async Task<bool> IsWaitedForAsync(NpgsqlConnection onlooker, int process, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand("SELECT EXISTS (SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid)))", onlooker);
        command.Parameters.Add(new NpgsqlParameter<int> { TypedValue = process });
        return (bool)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    private static async Task ExecuteAsync(DbConnection connection, string statement, CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = statement;
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
