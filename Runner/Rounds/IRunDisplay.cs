namespace Kit.Runner.Rounds;

/// <summary>Shows a run to whoever waits for it.</summary>
internal interface IRunDisplay
{
    /// <summary>Something is done that has no count.</summary>
    void Note(string what);

    /// <summary>The template is being filled.</summary>
    IProgress<int> Seeding(int rows);

    /// <summary>A round begins.</summary>
    IProgress<int> Round(string name, int messages);

    /// <summary>A round, or a pair of them, has ended and is saved.</summary>
    /// <param name="line">What came of it, in a line.</param>
    /// <param name="done">How many have ended.</param>
    /// <param name="planned">How many there will be.</param>
    void Finished(string line, int done, int planned);
}
