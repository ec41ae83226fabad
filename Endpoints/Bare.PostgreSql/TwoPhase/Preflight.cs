using System.Globalization;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Checks, before the first message, that the server has the slots that two-phase commit needs.</summary>
internal static class Preflight
{
    /// <param name="data">The branches' database.</param>
    /// <param name="of">What it is.</param>
    /// <param name="concurrency">The number of the endpoint's workers.</param>
    /// <param name="sharing">How many databases of the endpoint's branches are on its server.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="InvalidOperationException">The server has fewer. The message says what to do.</exception>
    public static async Task<SlotNeeds> CheckAsync(
        NpgsqlDataSource data, string of, int concurrency, int sharing, CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand("SHOW max_prepared_transactions");
        var total = int.Parse((string)(await command.ExecuteScalarAsync(cancellationToken))!, CultureInfo.InvariantCulture);
        var needs = new SlotNeeds(total, concurrency, sharing);
        return needs.AreMet
            ? needs
            : throw new InvalidOperationException(
                $"full-dtc at concurrency {concurrency} needs max_prepared_transactions of at least {needs.Fewest} " +
                $"on the PostgreSQL server of {of}, found {needs.Total}. " +
                "Each process of each full-dtc endpoint needs 2 × concurrency + 2 for each of its databases on the server. " +
                "Raise it (ALTER SYSTEM SET max_prepared_transactions = 100) and restart the server.");
    }
}
