using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Runner.Loads;

/// <summary>
/// A reader with a snapshot in each of the round's databases, as a long report or a dump has: while it is open, VACUUM cannot remove rows that others delete.
/// </summary>
/// <param name="databases">Connection strings, each once.</param>
internal sealed class HeldSnapshot(IReadOnlyList<string> databases)
{
    /// <summary>Waits, holds it, and lets it go.</summary>
    /// <param name="from">After this call.</param>
    /// <param name="stop">The load has ended: the snapshot is released, or not taken.</param>
    /// <exception cref="NpgsqlException">A database does not answer, or ended the session.</exception>
    public async Task RunAsync(TimeSpan from, TimeSpan to, CancellationToken stop)
    {
        var readers = new List<NpgsqlConnection>();
        try
        {
            await Task.Delay(from, stop);
            foreach (var database in databases)
            {
                var reader = new NpgsqlConnection(database);
                readers.Add(reader);
                await reader.OpenAsync(stop);
                // The first statement takes the snapshot, which lasts as long as the transaction.
                await reader.ExecuteAsync("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", stop);
                await reader.ExecuteAsync("SELECT count(*) FROM pg_class", stop);
            }

            await Task.Delay(to - from, stop).ContinueWith(_ => { }, TaskScheduler.Default);
            // A reader whose session the server has ended did not hold it to the end, also if the load has ended by now.
            foreach (var reader in readers)
                await reader.ExecuteAsync("COMMIT", CancellationToken.None);
        }
        catch (OperationCanceledException) when (stop.IsCancellationRequested)
        {
            // The load has ended.
        }
        finally
        {
            foreach (var reader in readers)
                await reader.DisposeAsync();
        }
    }
}
