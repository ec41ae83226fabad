using Kit.Runner.Results;

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

    /// <summary>A round has ended and is saved.</summary>
    /// <param name="round">Its record.</param>
    /// <param name="done">How many rounds have ended.</param>
    /// <param name="planned">How many there will be.</param>
    void Finished(RoundDocument round, int done, int planned);
}
