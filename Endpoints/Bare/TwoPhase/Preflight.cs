using System.Globalization;
using Npgsql;

namespace Kit.Endpoints.Bare.TwoPhase;

/// <summary>What two-phase commit needs of the servers, checked before the first message.</summary>
internal static class Preflight
{
    private const int LongestBacklog = 64;

    /// <summary>How many decided branches may wait for their second phase, as <c>max_prepared_transactions</c> allows.</summary>
    /// <exception cref="InvalidOperationException">A setting is missing; the message says what to do.</exception>
    public static async Task<int> BacklogAsync(NpgsqlDataSource data, int concurrency, CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand("SHOW max_prepared_transactions");
        var slots = int.Parse((string)(await command.ExecuteScalarAsync(cancellationToken))!, CultureInfo.InvariantCulture);
        var backlog = Math.Min(LongestBacklog, (slots - (2 * concurrency)) / 2);
        return backlog >= 1
            ? backlog
            : throw new InvalidOperationException(
                $"full-dtc at concurrency {concurrency} needs max_prepared_transactions of at least {(2 * concurrency) + 2} on the PostgreSQL server, found {slots}. " +
                "Set it (ALTER SYSTEM SET max_prepared_transactions = 100) and restart the server.");
    }
}
