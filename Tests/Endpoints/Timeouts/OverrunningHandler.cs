using System.Text.Json;
using System.Transactions;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Timeouts;

/// <summary>What a process is to run, on its standard input.</summary>
/// <param name="Widgets">The database.</param>
/// <param name="Maximum">The process's <see cref="TransactionManager.MaximumTimeout"/>.</param>
/// <param name="Timeout">What the scope is asked for.</param>
public sealed record OverrunSpec(string Widgets, TimeSpan Maximum, TimeSpan Timeout);

/// <summary>
/// A handler within a <see cref="DeadlineScope"/>, in a process of its own because the longest time-out belongs to the process. It inserts,
/// waits until its transaction is gone, or, where that has no longest time-out, for twice its own, and inserts again.
/// </summary>
internal static class OverrunningHandler
{
    public const string Command = "overrunning-handler";

    public static async Task<int> RunAsync(TextReader input, TextWriter output)
    {
        var spec = JsonSerializer.Deserialize<OverrunSpec>((await input.ReadLineAsync())!)!;
        TransactionManager.MaximumTimeout = spec.Maximum;
        await using var data = NpgsqlDataSource.Create(spec.Widgets);
        // What a new process compiles and connects first must not use up the time of the scope.
        await using (var first = data.CreateCommand("SELECT 1"))
            await first.ExecuteNonQueryAsync();
        try
        {
            await DeadlineScope.RunAsync(new TransactionSettings(TransactionMode.DtcOff, spec.Timeout), _ => HandleAsync(data, spec), CancellationToken.None);
        }
        catch (TimeoutException late)
        {
            await output.WriteLineAsync(late.Message);
        }

        return 0;
    }

    private static async Task HandleAsync(NpgsqlDataSource data, OverrunSpec spec)
    {
        await using var connection = await data.OpenConnectionAsync();
        await InsertAsync(connection, 1);
        if (spec.Maximum == TimeSpan.Zero)
            await Task.Delay(2 * spec.Timeout);
        else
            await Eventually.IsSoAsync(() => IsOutOfTheTransactionAsync(connection), Eventually.Limit);

        await InsertAsync(connection, 2);
    }

    private static async Task<bool> IsOutOfTheTransactionAsync(NpgsqlConnection connection)
    {
        if (Transaction.Current!.TransactionInformation.Status is not TransactionStatus.Aborted)
            return false;

        try
        {
            await using var ask = new NpgsqlCommand("SELECT pg_current_xact_id_if_assigned() IS NULL", connection);
            return (bool)(await ask.ExecuteScalarAsync())!;
        }
        catch (Exception failure) when (failure is NpgsqlException or InvalidOperationException)
        {
            // The driver is rolling back.
            return false;
        }
    }

    private static async Task InsertAsync(NpgsqlConnection connection, long id)
    {
        await using var insert = new NpgsqlCommand("INSERT INTO widget (id, message_id) VALUES ($1, gen_random_uuid())", connection);
        insert.Parameters.Add(new() { Value = id });
        await insert.ExecuteNonQueryAsync();
    }
}
