using System.Globalization;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Checks, before the first message, that the server has the slots that two-phase commit needs.</summary>
internal static class Preflight
{
    /// <exception cref="InvalidOperationException">The server has fewer. The message says what to do.</exception>
    public static async Task<SlotNeeds> CheckAsync(NpgsqlDataSource data, int concurrency, CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand("SHOW max_prepared_transactions");
        var needs = new SlotNeeds(int.Parse((string)(await command.ExecuteScalarAsync(cancellationToken))!, CultureInfo.InvariantCulture), concurrency);
        return needs.AreMet
            ? needs
            : throw new InvalidOperationException(
                $"full-dtc at concurrency {concurrency} needs max_prepared_transactions of at least {needs.Fewest} " +
                $"on the PostgreSQL server, found {needs.Total}. " +
                "Each process of each full-dtc endpoint on the server needs 2 × concurrency + 2. " +
                "Raise it (ALTER SYSTEM SET max_prepared_transactions = 100) and restart the server.");
    }
}
