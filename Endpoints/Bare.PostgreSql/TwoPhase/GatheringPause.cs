namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Whether to gather branches before they are committed: while that brings more than one. A branch that was gathered alone may hold a row that
/// every other handler waits for, and then they wait for the gathering as well. So the next branches are not gathered, and it is tried again
/// ever more rarely.
/// </summary>
internal sealed class GatheringPause
{
    /// <summary>Branches that are not gathered, after one that was gathered alone.</summary>
    public const int Fewest = 8;

    /// <summary>And at most, after many.</summary>
    public const int Most = 256;

    private readonly Lock sync = new();
    private int skipped;
    private int left;

    /// <summary>Asked for each branch.</summary>
    /// <returns>Whether it is to be committed by itself, at once.</returns>
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

    /// <summary>Told how many branches were gathered.</summary>
    public void Gathered(int branches)
    {
        lock (sync)
        {
            skipped = branches > 1 ? 0 : Math.Clamp(skipped * 2, Fewest, Most);
            left = skipped;
        }
    }
}
