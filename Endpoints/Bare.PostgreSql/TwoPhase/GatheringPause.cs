namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Decides whether to gather branches before committing them. If only one branch was gathered, it may hold a row that every other handler waits
/// for, so that they all wait for the gathering as well. The next branches are then not gathered, and gathering is tried again less and less often.
/// </summary>
internal sealed class GatheringPause
{
    /// <summary>How many branches are not gathered after one that was gathered alone.</summary>
    public const int Fewest = 8;

    /// <summary>The most branches that are not gathered, after many such branches.</summary>
    public const int Most = 256;

    private readonly Lock sync = new();
    private int skipped;
    private int left;

    /// <summary>Called for each branch.</summary>
    /// <returns>Whether to commit the branch alone, at once.</returns>
    public bool TrySkip()
    {
        lock (sync)
        {
            if (left == 0)
                return false;
            left--;
            return true;
        }
    }

    /// <summary>Notes how many branches were gathered.</summary>
    public void Gathered(int branches)
    {
        lock (sync)
        {
            skipped = branches > 1 ? 0 : Math.Clamp(skipped * 2, Fewest, Most);
            left = skipped;
        }
    }
}
