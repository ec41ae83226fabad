namespace Kit.Runner.Rounds;

/// <summary>Shows the progress of a run.</summary>
internal interface IRunDisplay
{
    /// <summary>Shows something that has no count.</summary>
    void Note(string what);

    /// <summary>The template is being filled.</summary>
    IProgress<int> Seeding(int rows);

    /// <summary>A round begins.</summary>
    IProgress<int> Round(string name, int messages);

    /// <summary>A round, or a pair of them, has ended and is saved.</summary>
    /// <param name="line">Its result, in one line.</param>
    /// <param name="done">How many have finished.</param>
    /// <param name="planned">How many there will be.</param>
    void Finished(string line, int done, int planned);
}
