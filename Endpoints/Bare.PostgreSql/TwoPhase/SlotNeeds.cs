namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>How many slots for prepared transactions an endpoint needs, and how many it may use. The formula stands here alone.</summary>
/// <param name="Total">The server's <c>max_prepared_transactions</c>.</param>
/// <param name="Concurrency">The endpoint's workers.</param>
internal sealed record SlotNeeds(int Total, int Concurrency)
{
    private const int LongestBacklog = 64;

    /// <summary>
    /// 2 × concurrency + 2: of each worker one branch that is being prepared and one that waits for its second phase, and two that were left to
    /// recovery. The server needs the sum over all processes of all full-dtc endpoints, and what other applications prepare.
    /// </summary>
    public int Fewest => (2 * Concurrency) + 2;

    /// <summary>Decided branches that may wait for their second phase: half of what the server has besides, at most 64.</summary>
    public int Backlog => Math.Min(LongestBacklog, (Total - (2 * Concurrency)) / 2);

    /// <summary>So many at the most are held at a time, those included that were left to recovery.</summary>
    public int Most => Concurrency + Backlog;

    public bool AreMet => Total >= Fewest;
}
