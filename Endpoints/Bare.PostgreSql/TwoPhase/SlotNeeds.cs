namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>How many slots for prepared transactions an endpoint needs, and how many it may use. The formula is only here.</summary>
/// <param name="Total">The server's <c>max_prepared_transactions</c>.</param>
/// <param name="Concurrency">The number of the endpoint's workers.</param>
/// <param name="Sharing">How many databases of the endpoint's branches are on the server.</param>
internal sealed record SlotNeeds(int Total, int Concurrency, int Sharing = 1)
{
    private const int LongestBacklog = 64;

    /// <summary>
    /// 2 × concurrency + 2 for each database: for each worker one branch that is being prepared and one that waits for its second phase, and two branches
    /// that were left to recovery. The server needs the sum over all processes of all full-dtc endpoints, plus the needs of other applications.
    /// </summary>
    public int Fewest => Sharing * ((2 * Concurrency) + 2);

    /// <summary>How many decided branches of one database may wait for their second phase: half of its share of the remaining slots, at most 64.</summary>
    public int Backlog => Math.Min(LongestBacklog, ((Total / Sharing) - (2 * Concurrency)) / 2);

    /// <summary>The most slots that one database's branches hold at a time, including those of branches left to recovery.</summary>
    public int Most => Concurrency + Backlog;

    public bool AreMet => Total >= Fewest;
}
